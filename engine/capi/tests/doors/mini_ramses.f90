! A small program with the data structure of RAMSES: mini_ramses FOLDER
!
! Octs lie in linked lists per rank and level (headl, next, numbl), with son, father, xg and uold as arrays of ngridmax strides.
! Every rank has all octs, its own and those of others. The program moves a field, refines and derefines, and calls PHEW at each
! step. It writes octs and labels, which the test compares with the Rust library.
module amr
  use, intrinsic :: iso_c_binding
  implicit none
  integer, parameter :: ncoarse = 1, ngridmax = 4000, levelmin = 3, levelmax = 5
  integer :: myid = 1, ncpu = 1
  integer :: headl(64, levelmax), numbl(64, levelmax)
  integer :: next(ngridmax), father(ngridmax), owner(ngridmax)
  integer, target :: son(ncoarse + 8*ngridmax)
  real(c_double) :: xg(ngridmax, 3)
  real(c_double), target :: uold(ncoarse + 8*ngridmax, 1)
  integer :: n_free, free_list(ngridmax)
  real(c_double) :: t = 0
contains

  subroutine start()
    integer :: i
    son = 0
    uold = 0
    headl = 0
    numbl = 0
    n_free = ngridmax
    free_list = [(ngridmax + 1 - i, i=1, ngridmax)]
    call make_oct(1, 1)
  end subroutine

  !> The density of three moving peaks.
  function density(x) result(rho)
    real(c_double), intent(in) :: x(3)
    real(c_double) :: rho, centre(3, 3), d(3)
    integer :: i
    centre(:, 1) = [0.2d0 + t, 0.3d0, 0.4d0]
    centre(:, 2) = [0.42d0, 0.3d0 + 0.5d0*t, 0.45d0]
    centre(:, 3) = [0.9d0, 0.95d0 + t, 0.6d0]
    rho = 0.5d0
    do i = 1, 3
      d = abs(x - centre(:, i))
      d = min(d, 1 - d)/0.06d0
      rho = rho + (20 + 10*i)/(1 + sum(d*d))**2
    end do
  end function

  integer function level_of(icell) result(level)
    integer, intent(in) :: icell
    integer :: cell
    level = 0
    cell = icell
    do while (cell > ncoarse)
      level = level + 1
      cell = father(modulo(cell - ncoarse - 1, ngridmax) + 1)
    end do
  end function

  !> An oct of this level in a cell. Slabs of level-3 octs along x belong to the ranks.
  subroutine make_oct(icell, level)
    integer, intent(in) :: icell, level
    integer :: igrid, ind
    real(c_double) :: x(3)
    x = 0.5d0
    if (icell > ncoarse) x = cell_centre(icell, level - 1)
    igrid = free_list(n_free)
    n_free = n_free - 1
    son(icell) = igrid
    father(igrid) = icell
    xg(igrid, :) = x
    owner(igrid) = 1 + min(int(min(x(1)*4, 3.99d0))*ncpu/4, ncpu - 1)
    call link(igrid, level)
    do ind = 1, 8
      son(ncoarse + (ind - 1)*ngridmax + igrid) = 0
    end do
  end subroutine

  subroutine link(igrid, level)
    integer, intent(in) :: igrid, level
    next(igrid) = headl(owner(igrid), level)
    headl(owner(igrid), level) = igrid
    numbl(owner(igrid), level) = numbl(owner(igrid), level) + 1
  end subroutine

  subroutine unlink(igrid, level)
    integer, intent(in) :: igrid, level
    integer :: i
    i = headl(owner(igrid), level)
    if (i == igrid) then
      headl(owner(igrid), level) = next(igrid)
    else
      do while (next(i) /= igrid)
        i = next(i)
      end do
      next(i) = next(igrid)
    end if
    numbl(owner(igrid), level) = numbl(owner(igrid), level) - 1
  end subroutine

  function cell_centre(icell, level) result(x)
    integer, intent(in) :: icell, level
    real(c_double) :: x(3)
    integer :: ind, igrid
    igrid = modulo(icell - ncoarse - 1, ngridmax) + 1
    ind = (icell - ncoarse - 1)/ngridmax
    x = xg(igrid, :) + (real([iand(ind, 1), iand(ishft(ind, -1), 1), ishft(ind, -2)], c_double) - 0.5d0)*0.5d0**level
  end function

  !> Field, refinement and derefinement of a level, and of its finer levels.
  recursive subroutine update(igrid, level)
    integer, intent(in) :: igrid, level
    integer :: ind, icell
    logical :: is_split
    do ind = 1, 8
      icell = ncoarse + (ind - 1)*ngridmax + igrid
      uold(icell, 1) = density(cell_centre(icell, level))
      is_split = level < levelmin .or. (level < levelmax .and. uold(icell, 1) > 4)
      if (is_split .and. son(icell) == 0) call make_oct(icell, level + 1)
      if (.not. is_split .and. son(icell) /= 0) call remove(icell, level + 1)
      if (is_split) call update(son(icell), level + 1)
    end do
  end subroutine

  recursive subroutine remove(icell, level)
    integer, intent(in) :: icell, level
    integer :: ind, igrid
    igrid = son(icell)
    do ind = 1, 8
      if (son(ncoarse + (ind - 1)*ngridmax + igrid) /= 0) call remove(ncoarse + (ind - 1)*ngridmax + igrid, level + 1)
    end do
    call unlink(igrid, level)
    n_free = n_free + 1
    free_list(n_free) = igrid
    son(icell) = 0
  end subroutine

end module

program mini_ramses
  use amr
  use inselberg
  implicit none
#ifdef WITH_MPI
  include 'mpif.h'
#endif
  type(inselberg_engine) :: engine
  type(inselberg_box) :: box
  integer :: step, code, n, ierr
  integer, target :: labels(ngridmax, 8)
  integer, allocatable, target :: list(:), level(:), position(:, :), split(:)
  real(c_double), pointer :: rho(:, :)
  integer(c_int64_t) :: here, total
  character(300) :: folder

  ierr = 0
#ifdef WITH_MPI
  call MPI_INIT(ierr)
  call MPI_COMM_RANK(MPI_COMM_WORLD, myid, ierr)
  call MPI_COMM_SIZE(MPI_COMM_WORLD, ncpu, ierr)
  myid = myid + 1
  call inselberg_open(engine, MPI_COMM_WORLD, 1, code)
#else
  call inselberg_open_serial(engine, 1, code)
#endif
  call check('open')
  call get_command_argument(1, folder)
  call inselberg_set_box(engine, box, code)
  call check('box')
  call inselberg_set(engine, 'density_threshold', 3d0, code)
  call check('density threshold')
  call inselberg_set(engine, 'relevance_threshold', '1.2', code)
  call check('relevance threshold')
  call inselberg_set(engine, 'saddle_threshold', 5, code)
  call check('saddle threshold')

  call start()
  rho(1:ngridmax, 1:8) => uold(ncoarse + 1:, 1)
  do step = 0, 4
    call update(1, 1)
    call own_octs()
    labels = -1
    call inselberg_set_octs(engine, level, position, split, code)
    call check('octs')
    call inselberg_phew(engine, [inselberg_values('density', rho, list, item_dimension=1)], code)
    call check('PHEW')
    call inselberg_labels(engine, inselberg_clump_labels, [inselberg_into(labels, list, item_dimension=1)], code)
    call check('labels')
    call inselberg_rows(engine, 'clumps', here, total, code)
    call save()
    if (myid == 1) print '(a, i0, a, i0, a)', 'step ', step, ': ', total, ' clumps'
    t = t + 0.05d0
  end do
  call fail()
  call inselberg_free(engine, code)
  call check('free')
#ifdef WITH_MPI
  call MPI_FINALIZE(ierr)
#endif
  if (ierr == 0) print '(a)', 'all good'

contains

  subroutine check(what)
    character(*), intent(in) :: what
    if (code == inselberg_done) return
    print '(4a)', what, ': ', inselberg_message()
    error stop 1
  end subroutine

  !> The octs of this rank in the linked lists of all levels.
  subroutine own_octs()
    integer :: l, i, igrid, c
    n = sum(numbl(myid, :))
    if (allocated(list)) deallocate (list, level, position, split)
    allocate (list(n), level(n), position(3, n), split(n))
    i = 0
    do l = 1, levelmax
      igrid = headl(myid, l)
      do while (igrid /= 0)
        i = i + 1
        list(i) = igrid
        level(i) = l
        position(:, i) = int(xg(igrid, :)*2**(l - 1))
        split(i) = 0
        do c = 0, 7
          if (son(ncoarse + c*ngridmax + igrid) /= 0) split(i) = ibset(split(i), c)
        end do
        igrid = next(igrid)
      end do
    end do
  end subroutine

  subroutine save()
    integer :: i, unit
    character(400) :: path
    write (path, '(2a, i0, a, i0)') trim(folder), '/fortran.', step, '.', myid - 1
    open (newunit=unit, file=path)
    do i = 1, n
      write (unit, '(5(i0, 1x), 8(es24.16e3, 1x), 8(i0, 1x))') level(i), position(:, i), split(i), rho(list(i), :), &
        labels(list(i), :)
    end do
    close (unit)
  end subroutine

  !> A density that is not a number on the last rank: the same code on all, and a right call after it.
  subroutine fail()
    real(c_double) :: kept
    kept = rho(list(1), 1)
    if (myid == ncpu) rho(list(1), 1) = transfer(-1_c_int64_t, 1d0)
    call inselberg_phew(engine, [inselberg_values('density', rho, list, item_dimension=1)], code)
    if (code /= inselberg_invalid_value) error stop 2
    if (index(inselberg_message(), 'NaN') == 0) error stop 3
    if (myid == ncpu) rho(list(1), 1) = kept
    call inselberg_phew(engine, [inselberg_values('density', rho, list, item_dimension=1)], code)
    call check('the call after an error')
    call inselberg_phew(engine, uold(:, 1), code)
    if (code /= inselberg_invalid_argument) error stop 4
  end subroutine

end program
