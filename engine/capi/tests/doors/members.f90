! Groups with bound particles, from arrays of a Fortran program: as members.c, alone.
program members
  use, intrinsic :: iso_c_binding
  use inselberg
  implicit none
  type(inselberg_engine) :: engine
  type(inselberg_box) :: box
  real(c_double), allocatable :: x(:, :), v(:, :), mass(:)
  integer(c_int64_t), allocatable :: id(:)
  character(1000) :: input, folder, ending
  integer(c_int32_t) :: code
  integer :: i, a, n, unit

  call get_command_argument(1, input)
  call get_command_argument(2, folder)
  call get_command_argument(3, ending)
  open (newunit=unit, file=trim(input), status='old')
  read (unit, *) n
  allocate (x(3, n), v(3, n), mass(n), id(n))
  do i = 1, n
    read (unit, *) x(:, i), mass(i)
    v(:, i) = [(dble(mod((i - 1)*7 + a*5, 13) - 6), a=0, 2)]
    id(i) = i - 1
  end do
  close (unit)

  call inselberg_open_serial(engine, 2_c_int32_t, code)
  call check()
  box = inselberg_box(side=2d0, time=1d0, unit_length=3d24, unit_density=1d-26, unit_time=3d17, aexp=1d0, h0=70d0, &
    omega_m=0.3d0, omega_l=0.7d0)
  call inselberg_set_box(engine, box, code)
  call check()
  ! The velocities are an expression, which is gone after the call.
  call inselberg_set_particles(engine, x, code, velocity=v*0.125d0, mass=mass, id=id)
  call check()
  call inselberg_set(engine, 'linking_length', 0.05d0, code)
  call check()
  call inselberg_set(engine, 'min_size', 5, code)
  call check()
  call inselberg_set(engine, 'fof.properties', 'so,bound', code)
  call check()
  call inselberg_set(engine, 'with_members', 'true', code)
  call check()
  call find_and_write('groups')
  ! Tracks go on from call to call, and from a catalogue.
  call inselberg_set(engine, 'fof.tracks', 'true', code)
  call check()
  call find_and_write('first')
  call find_and_write('kept')
  call inselberg_set(engine, 'fof.tracks_from', trim(folder)//'/first'//trim(ending), code)
  call check()
  call find_and_write('read')
  call inselberg_find(engine, 'planets', code)
  if (code /= inselberg_invalid_argument) error stop 'planets were found'
  call inselberg_free(engine, code)
  call check()
  print '(a)', 'all good'
contains
  subroutine find_and_write(name)
    character(*), intent(in) :: name
    call inselberg_find(engine, 'groups', code)
    call check()
    call inselberg_write(engine, trim(folder)//'/'//name//trim(ending), code)
    call check()
  end subroutine

  subroutine check()
    if (code /= inselberg_done) then
      print '(a)', inselberg_message()
      error stop 1
    end if
  end subroutine
end program
