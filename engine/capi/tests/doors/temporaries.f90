! Arguments that are gone after a call: expressions, sections and lists, which the library must read while they are there.
program host
  use, intrinsic :: iso_c_binding
  use inselberg
  implicit none
  integer, parameter :: n = 400
  type :: particle
    real(c_double) :: x(3), v(3), mass
    integer(c_int64_t) :: id
  end type
  type(inselberg_engine) :: engine
  type(inselberg_box) :: box
  type(particle) :: every(n)
  real(c_double), target :: x(3, n)
  real(c_double) :: big(3, n), rho(0:7, 1), filler(3, n)
  integer(c_int32_t) :: code, labels(n), expected(n), of_cells(8), again(0:7, 1)
  integer :: i

  ! Pairs of particles near to each other, in eight places.
  do i = 1, n
    big(:, i) = 1d3*(0.1d0 + 0.25d0*[mod(i, 2), mod(i/2, 2), mod(i/4, 2)] + 1d-3*[mod(i, 7), mod(i, 11), mod(i, 5)])
  end do
  x = big*1d-3
  every%mass = 2
  every%id = [(2*i, i=1, n)]
  do i = 1, n
    every(i)%x = x(:, i)
    every(i)%v = [i, 0, 0]
  end do

  call inselberg_open_serial(engine, 2, code)
  call inselberg_set_box(engine, box, code)
  call inselberg_set(engine, 'linking_length', 0.05d0, code)
  call inselberg_set(engine, 'min_size', 2, code)
  call inselberg_fof(engine, [inselberg_values('position', x)], code)
  call require(code == inselberg_done, 'groups')
  call inselberg_labels(engine, inselberg_group_labels, expected, code)
  call require(code == inselberg_done .and. maxval(expected) == 8, 'eight groups')

  ! Others write to the memory of what is gone.
  call inselberg_fof(engine, big*1d-3, code)
  filler = big*3d0
  call check('positions that are an expression', filler)
  call inselberg_fof(engine, big*1d-3, code, velocity=2*big, mass=every%mass*3, id=every%id + 1, attached=[(0, i=1, n)])
  call check('all columns as expressions', filler)
  call inselberg_fof(engine, x(:, :), code, mass=every%mass, id=every%id)
  call check('parts of structures', filler)
  call inselberg_fof(engine, real(big*1d-3, c_float), code, mass=real(every%mass, c_float), id=[(i, i=1, n)])
  call check('single precision and a list', filler)
  call inselberg_fof(engine, x, code, id=[(i, i=1, n)], index=[(i, i=n, 1, -1)])
  call inselberg_labels(engine, inselberg_group_labels, labels, code, index=[(i, i=n, 1, -1)])
  call require(code == inselberg_done .and. all(labels == expected), 'a list that is an expression')

  call inselberg_set(engine, 'density_threshold', 1, code)
  call inselberg_set_octs(engine, [1], reshape([0, 0, 0], [3, 1]), [0], code)
  rho = reshape([9, 2, 1, 1, 1, 1, 1, 8]*1d0, [8, 1])
  call inselberg_phew(engine, rho*2, code, mass_density=rho*3, velocity_x=rho, velocity_y=-rho, velocity_z=0*rho)
  call inselberg_labels(engine, inselberg_clump_labels, again, code)
  call require(code == inselberg_done .and. any(again > 0), 'clumps of an expression')
  call inselberg_phew(engine, transpose(rho*2), code, item_dimension=1, index=[1])
  call inselberg_labels(engine, inselberg_clump_labels, of_cells, code)
  call require(code == inselberg_invalid_argument, 'labels of octs have eight parts')
  call image_of_labels()
  call inselberg_free(engine, code)
  print '(a)', 'all good'

contains

  !> The labels as an image, whose path is an expression with blanks at its end: numbers of four bytes, the last one least.
  subroutine image_of_labels()
    character(500) :: folder
    character(2880) :: header
    integer(c_int8_t) :: image(4, 0:7)
    integer :: unit
    call get_command_argument(1, folder)
    call inselberg_set(engine, 'with_cells', .true., code)
    call inselberg_phew(engine, rho*2, code)
    call inselberg_labels(engine, inselberg_clump_labels, again, code)
    call inselberg_write_labels(engine, inselberg_clump_labels, trim(folder)//'/labels.fits  ', code)
    call require(code == inselberg_done, 'an image of labels')
    open (newunit=unit, file=trim(folder)//'/labels.fits', access='stream', action='read', status='old')
    read (unit) header, image
    close (unit)
    call require(all(image(1:3, :) == 0) .and. all(image(4, :) == again(:, 1)), 'the labels in the image')
  end subroutine

  subroutine check(what, unused)
    character(*), intent(in) :: what
    real(c_double), intent(in) :: unused(:, :)
    call require(code == inselberg_done .and. size(unused) > 0, what)
    labels = -1
    call inselberg_labels(engine, inselberg_group_labels, labels, code)
    call require(code == inselberg_done .and. all(labels == expected), 'labels of '//what)
  end subroutine

  subroutine require(is_good, what)
    logical, intent(in) :: is_good
    character(*), intent(in) :: what
    if (is_good) return
    print '(4a)', what, '; last message: ', inselberg_message()
    error stop 1
  end subroutine

end program
