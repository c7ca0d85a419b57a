! A small program with the data structure and the domains of RAMSES: mini_ramses FOLDER ENDING
!
! It evolves a field, refines and derefines, balances the load, and calls PHEW at each step. Octs, labels and catalogues go into
! FOLDER, where the test compares them with those of the Rust library. ENDING chooses the format of catalogues. WITH_MPI: it runs
! under mpirun.
!
! A rank holds its own octs, boundary octs, and the ancestors of both. Boundary octs belong to other ranks and lie one oct around
! its own. So a rank holds a part of the tree only.
!
!   here                       in RAMSES
!   headl, numbl, next, prev   the octs of each level in linked lists, one per rank that owns them
!   headf                      the list of free octs
!   father, son, xg            the same; lengths in units of the box, which is one coarse cell
!   uold, flag1                values per cell, in arrays of ngridmax strides; here the density is the only one
!   bound_key, bound_key2      the domains now and after load balance: slabs along x, as with ordering='planar'
!   cpu_of                     cpu_map, which RAMSES stores per cell
!   evolve                     the solver, and flag_fine; here a known function
!   exchange                   make_virtual_fine_dp and make_virtual_fine_int
!   refine                     refine_fine
!   load_balance               the same
!   find_clumps                what a program adds to call the library; contrib/ramses adds it to RAMSES itself
module amr
  use, intrinsic :: iso_c_binding
  implicit none
  integer, parameter :: ncoarse = 1, ngridmax = 4000, levelmin = 3, levelmax = 6, max_cpu = 64
  integer :: myid = 1, ncpu = 1
  integer :: headl(max_cpu, levelmax), numbl(max_cpu, levelmax), headf
  integer :: next(ngridmax), prev(ngridmax), father(ngridmax)
  integer, target :: son(ncoarse + 8*ngridmax)
  integer :: flag1(ncoarse + 8*ngridmax)
  real(c_double) :: xg(ngridmax, 3), bound_key(0:max_cpu), bound_key2(0:max_cpu)
  real(c_double), target :: uold(ncoarse + 8*ngridmax, 1)
  real(c_double) :: t = 0
contains

  !> The oct of level 1 on all ranks, and domains of equal size.
  subroutine start()
    integer :: i
    son = 0
    headl = 0
    numbl = 0
    headf = 1
    next = [(i + 1, i=1, ngridmax)]
    bound_key = [(real(i, c_double)/ncpu, i=0, max_cpu)]
    bound_key2 = bound_key
    call make_oct(1, 1, [0.5d0, 0.5d0, 0.5d0])
  end subroutine

  !> One step: the field and the mesh from coarse to fine, then other domains.
  subroutine amr_step()
    integer :: level
    do level = 1, levelmax
      call evolve(level)
      call exchange(level)
      call refine(level)
    end do
  end subroutine

  !> The density of three moving peaks.
  function density(x) result(rho)
    real(c_double), intent(in) :: x(3)
    real(c_double) :: rho, centre(3, 3), d(3)
    integer :: i
    centre(:, 1) = [0.2d0 + t, 0.3d0, 0.4d0]
    centre(:, 2) = [0.42d0 + t, 0.3d0 + 0.5d0*t, 0.45d0]
    centre(:, 3) = [0.9d0, 0.95d0 + t, 0.6d0]
    rho = 0.5d0
    do i = 1, 3
      d = abs(x - centre(:, i))
      d = min(d, 1 - d)/0.06d0
      rho = rho + (20 + 10*i)/(1 + sum(d*d))**2
    end do
  end function

  !> The rank that owns an oct with this centre.
  integer function cpu_of(x)
    real(c_double), intent(in) :: x(3)
    cpu_of = 1 + count(bound_key(1:ncpu - 1) <= x(1))
  end function

  !> Whether a rank holds an oct: within one oct of its domain, now or after load balance.
  logical function is_held(cpu, x, level)
    integer, intent(in) :: cpu, level
    real(c_double), intent(in) :: x(3)
    is_held = is_near(bound_key(cpu - 1), bound_key(cpu)) .or. is_near(bound_key2(cpu - 1), bound_key2(cpu))
  contains
    logical function is_near(first, last)
      real(c_double), intent(in) :: first, last
      real(c_double) :: d
      d = abs(x(1) - (first + last)/2)
      is_near = min(d, 1 - d) < (last - first)/2 + 1.5d0*0.5d0**(level - 1)
    end function
  end function

  !> The indices of the eight cells of an oct.
  function cells_of(igrid) result(icell)
    integer, intent(in) :: igrid
    integer :: icell(8), ind
    icell = [(ncoarse + (ind - 1)*ngridmax + igrid, ind=1, 8)]
  end function

  function cell_centre(igrid, ind, level) result(x)
    integer, intent(in) :: igrid, ind, level
    real(c_double) :: x(3)
    x = xg(igrid, :) + (real(ibits(ind - 1, [0, 1, 2], 1), c_double) - 0.5d0)*0.5d0**level
  end function

  !> Takes an oct from the free list and links it to those of its owner.
  subroutine make_oct(icell, level, x)
    integer, intent(in) :: icell, level
    real(c_double), intent(in) :: x(3)
    integer :: igrid
    igrid = headf
    if (igrid > ngridmax) error stop 'more octs than ngridmax'
    headf = next(igrid)
    son(icell) = igrid
    father(igrid) = icell
    xg(igrid, :) = x
    son(cells_of(igrid)) = 0
    flag1(cells_of(igrid)) = 0
    uold(cells_of(igrid), 1) = 0
    call link_oct(igrid, cpu_of(x), level)
  end subroutine

  !> Gives an oct back to the free list, after the octs in its cells.
  recursive subroutine kill_oct(icell, level)
    integer, intent(in) :: icell, level
    integer :: ind, igrid, cells(8)
    igrid = son(icell)
    cells = cells_of(igrid)
    do ind = 1, 8
      if (son(cells(ind)) /= 0) call kill_oct(cells(ind), level + 1)
    end do
    call unlink_oct(igrid, cpu_of(xg(igrid, :)), level)
    next(igrid) = headf
    headf = igrid
    son(icell) = 0
  end subroutine

  subroutine link_oct(igrid, cpu, level)
    integer, intent(in) :: igrid, cpu, level
    prev(igrid) = 0
    next(igrid) = headl(cpu, level)
    if (next(igrid) /= 0) prev(next(igrid)) = igrid
    headl(cpu, level) = igrid
    numbl(cpu, level) = numbl(cpu, level) + 1
  end subroutine

  subroutine unlink_oct(igrid, cpu, level)
    integer, intent(in) :: igrid, cpu, level
    if (prev(igrid) == 0) headl(cpu, level) = next(igrid)
    if (prev(igrid) /= 0) next(prev(igrid)) = next(igrid)
    if (next(igrid) /= 0) prev(next(igrid)) = prev(igrid)
    numbl(cpu, level) = numbl(cpu, level) - 1
  end subroutine

  !> The field in the own cells of a level, and which of them are to be split.
  subroutine evolve(level)
    integer, intent(in) :: level
    integer :: igrid, ind, cells(8)
    igrid = headl(myid, level)
    do while (igrid /= 0)
      cells = cells_of(igrid)
      uold(cells, 1) = [(density(cell_centre(igrid, ind, level)), ind=1, 8)]
      flag1(cells) = merge(1, 0, level < levelmin .or. (level < levelmax .and. uold(cells, 1) > 4))
      igrid = next(igrid)
    end do
  end subroutine

  !> Makes and removes the octs in the cells of a level by their flags, where this rank holds them.
  subroutine refine(level)
    integer, intent(in) :: level
    integer :: cpu, igrid, ind, cells(8)
    real(c_double) :: x(3)
    logical :: is_split
    do cpu = 1, ncpu
      igrid = headl(cpu, level)
      do while (igrid /= 0)
        cells = cells_of(igrid)
        do ind = 1, 8
          x = cell_centre(igrid, ind, level)
          is_split = flag1(cells(ind)) == 1 .and. is_held(myid, x, level + 1)
          if (is_split .and. son(cells(ind)) == 0) call make_oct(cells(ind), level + 1, x)
          if (.not. is_split .and. son(cells(ind)) /= 0) call kill_oct(cells(ind), level + 1)
        end do
        igrid = next(igrid)
      end do
    end do
  end subroutine

  !> Sends the own octs of a level to the ranks that hold them too, and takes the boundary octs from their owners.
  subroutine exchange(level)
    integer, intent(in) :: level
#ifdef WITH_MPI
    include 'mpif.h'
    integer, parameter :: n_numbers = 19
    integer :: n_sent(ncpu), n_received(ncpu), ierr
    real(c_double), allocatable :: sent(:, :), received(:, :)
    integer :: cpu, igrid, i, n
    allocate (sent(n_numbers, numbl(myid, level)*ncpu))
    n = 0
    n_sent = 0
    do cpu = 1, ncpu
      igrid = headl(myid, level)
      do while (igrid /= 0 .and. cpu /= myid)
        if (is_held(cpu, xg(igrid, :), level)) then
          n = n + 1
          n_sent(cpu) = n_sent(cpu) + 1
          sent(:, n) = [xg(igrid, :), uold(cells_of(igrid), 1), real(flag1(cells_of(igrid)), c_double)]
        end if
        igrid = next(igrid)
      end do
    end do
    call MPI_ALLTOALL(n_sent, 1, MPI_INTEGER, n_received, 1, MPI_INTEGER, MPI_COMM_WORLD, ierr)
    allocate (received(n_numbers, sum(n_received)))
    call MPI_ALLTOALLV(sent, n_numbers*n_sent, begins(n_sent), MPI_DOUBLE_PRECISION, &
      received, n_numbers*n_received, begins(n_received), MPI_DOUBLE_PRECISION, MPI_COMM_WORLD, ierr)
    do i = 1, sum(n_received)
      igrid = oct_at(received(1:3, i), level)
      uold(cells_of(igrid), 1) = received(4:11, i)
      flag1(cells_of(igrid)) = nint(received(12:19, i))
    end do
  contains
    function begins(counts)
      integer, intent(in) :: counts(:)
      integer :: begins(size(counts)), cpu
      begins = [(n_numbers*sum(counts(:cpu - 1)), cpu=1, size(counts))]
    end function
#else
    if (level > levelmax) error stop 'no such level'
#endif
  end subroutine

  !> The oct of a level with this centre, from the root down.
  integer function oct_at(x, level) result(igrid)
    real(c_double), intent(in) :: x(3)
    integer, intent(in) :: level
    integer :: l
    igrid = son(1)
    do l = 2, level
      igrid = son(ncoarse + sum(merge([1, 2, 4], 0, x > xg(igrid, :)))*ngridmax + igrid)
      if (igrid == 0) error stop 'the owner sends an oct that this rank does not hold'
    end do
  end function

  !> Domains with equal numbers of octs. Octs that change their owner become boundary octs of the new one first, with the values
  !> of their cells. Returns the number of octs that came to this rank.
  integer function load_balance() result(n_came)
    integer, parameter :: n_columns = 2**levelmax
    integer :: work(n_columns), level, cpu, igrid, following, column
    work = 0
    do level = 1, levelmax
      igrid = headl(myid, level)
      do while (igrid /= 0)
        column = 1 + int(xg(igrid, 1)*n_columns)
        work(column) = work(column) + 1
        igrid = next(igrid)
      end do
    end do
    work = sum_of_ranks(work)
    do cpu = 1, ncpu - 1
      column = 0
      do while (sum(work(:column))*ncpu < sum(work)*cpu)
        column = column + 1
      end do
      bound_key2(cpu) = real(column, c_double)/n_columns
    end do
    do level = 1, levelmax
      call exchange(level)
      call refine(level)
    end do

    bound_key = bound_key2
    n_came = 0
    do level = 1, levelmax
      do cpu = 1, ncpu
        igrid = headl(cpu, level)
        do while (igrid /= 0)
          following = next(igrid)
          if (cpu_of(xg(igrid, :)) /= cpu) then
            call unlink_oct(igrid, cpu, level)
            call link_oct(igrid, cpu_of(xg(igrid, :)), level)
            if (cpu_of(xg(igrid, :)) == myid) n_came = n_came + 1
          end if
          igrid = following
        end do
      end do
    end do
    do level = 1, levelmax
      call refine(level)
    end do
  end function

  function sum_of_ranks(counts) result(total)
    integer, intent(in) :: counts(:)
    integer :: total(size(counts))
#ifdef WITH_MPI
    include 'mpif.h'
    integer :: ierr
    call MPI_ALLREDUCE(counts, total, size(counts), MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
#else
    total = counts
#endif
  end function

  !> Whether all octs that this rank holds have the values of the field, which their owners sent.
  logical function has_field()
    integer :: cpu, level, igrid, ind, cells(8)
    has_field = .true.
    do level = 1, levelmax
      do cpu = 1, ncpu
        igrid = headl(cpu, level)
        do while (igrid /= 0)
          cells = cells_of(igrid)
          do ind = 1, 8
            if (abs(uold(cells(ind), 1) - density(cell_centre(igrid, ind, level))) > 0) has_field = .false.
          end do
          igrid = next(igrid)
        end do
      end do
    end do
  end function

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
  integer :: step, code, n_came, ierr, i
  integer, target :: labels(ngridmax, 8)
  integer, allocatable, target :: list(:), level(:), position(:, :), split(:)
  real(c_double), pointer :: rho(:, :)
  character(300) :: folder, ending

  ierr = 0
#ifdef WITH_MPI
  call MPI_INIT(ierr)
  call MPI_COMM_RANK(MPI_COMM_WORLD, myid, ierr)
  call MPI_COMM_SIZE(MPI_COMM_WORLD, ncpu, ierr)
  myid = myid + 1
  if (ncpu > max_cpu) error stop 'more ranks than max_cpu'
  call inselberg_open(engine, MPI_COMM_WORLD, 1, code)
#else
  call inselberg_open_serial(engine, 1, code)
#endif
  call check('open')
  call get_command_argument(1, folder)
  call get_command_argument(2, ending)
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
    call amr_step()
    n_came = load_balance()
    if (.not. has_field()) error stop 'an oct does not have the values of its owner'
    call find_clumps()
    call save()
    call check_sums()
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

  !> Collective: the clumps in the octs of all ranks. Each rank hands over its own octs. Densities are read, and labels written,
  !> where the program keeps them.
  subroutine find_clumps()
    call own_octs()
    labels = -1
    call inselberg_set_octs(engine, level, position, split, code)
    call check('octs')
    call inselberg_phew(engine, [inselberg_values('density', rho, list, item_dimension=1)], code)
    call check('PHEW')
    call inselberg_labels(engine, inselberg_clump_labels, [inselberg_into(labels, list, item_dimension=1)], code)
    call check('labels')
    call check_peaks()
  end subroutine

  !> Collective: sums over the cells of each clump and halo, of which the library has the volume and the mass as well.
  subroutine check_sums()
    real(c_double) :: volume(8, size(list))
    real(c_double), pointer :: own(:), sums(:)
    integer :: i
    do i = 1, size(list)
      volume(:, i) = 0.5_c_double**(3 * level(i))
    end do
    call inselberg_add_sums(engine, inselberg_clump_labels, 'cell_volume', volume, code)
    call check('sums over clumps')
    call inselberg_add_sums(engine, inselberg_halo_labels, 'cell_mass', volume * transpose(rho(list, :)), code)
    call check('sums over haloes')
    call inselberg_get(engine, 'clumps', 'volume', own, code)
    call inselberg_get(engine, 'clumps', 'cell_volume', sums, code)
    if (.not. associated(sums)) error stop 'no sums'
    if (size(sums) /= size(own) .or. any(abs(sums - own) > 1d-12 * own)) error stop 'other volumes'
    call inselberg_get(engine, 'haloes', 'mass', own, code)
    call inselberg_get(engine, 'haloes', 'cell_mass', sums, code)
    if (any(abs(sums - own) > 1d-12 * own)) error stop 'other masses'
    call inselberg_add_sums(engine, inselberg_clump_labels, 'volume', volume, code)
    if (code /= inselberg_invalid_argument) error stop 'a column that is there'
    call inselberg_add_sums(engine, inselberg_group_labels, 'mass', volume, code)
    if (code /= inselberg_invalid_argument) error stop 'labels that are not there'
    call inselberg_add_sums(engine, inselberg_clump_labels, 'short', volume(:, :size(list) - min(size(list), 1)), code)
    if (size(list) > 0 .and. code /= inselberg_invalid_argument) error stop 'too few values'
  end subroutine

  !> Collective: each clump has its peak in one cell of one rank, and this rank can have the clump's row.
  subroutine check_peaks()
    integer, target :: peaks(8, size(list))
    integer, allocatable :: ids(:), all_ids(:)
    integer(c_int64_t), pointer :: found(:)
    real(c_double), pointer :: densest(:)
    integer(c_int64_t) :: here, total
    call inselberg_labels(engine, inselberg_peak_labels, peaks, code)
    call check('peak labels')
    ids = pack(peaks, peaks > 0)
    call inselberg_pick_rows(engine, 'clumps', ids, code)
    call check('rows')
    call inselberg_rows(engine, 'clumps', here, total, code)
    if (here /= size(ids) .or. total /= sum(sum_of_ranks([size(ids)]))) error stop 'a clump has not one peak'
    call inselberg_get(engine, 'clumps', 'id', found, code)
    if (any(found /= ids)) error stop 'rows of other clumps'
    call inselberg_get(engine, 'clumps', 'density_peak', densest, code)
    if (any(abs(densest - pack(transpose(rho(list, :)), peaks > 0)) > 0)) error stop 'a peak with another density'
    ! All rows, backwards, and one that is not there.
    allocate (all_ids(total + 1))
    all_ids = [(int(total) + 1 - i, i=0, int(total))]
    call inselberg_pick_rows(engine, 'haloes', all_ids(:0), code)
    call inselberg_pick_rows(engine, 'clumps', int(all_ids, c_int64_t), code)
    call check('all rows')
    call inselberg_get(engine, 'clumps', 'id', found, code)
    if (size(found) /= total) error stop 'not all rows'
    if (any(found /= all_ids(2:))) error stop 'rows in another order'
    call inselberg_rows(engine, 'haloes', here, total, code)
    if (here /= 0 .or. total == 0) error stop 'rows that nobody wants'
    call inselberg_pick_rows(engine, 'nothing', ids, code)
    if (code /= inselberg_invalid_argument) error stop 'a table that is not there'
  end subroutine

  !> The octs of this rank in the linked lists of all levels. Boundary octs are in the lists of their owners.
  subroutine own_octs()
    integer :: l, i, igrid, c, n, cells(8)
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
        cells = cells_of(igrid)
        split(i) = 0
        do c = 0, 7
          if (son(cells(c + 1)) /= 0) split(i) = ibset(split(i), c)
        end do
        igrid = next(igrid)
      end do
    end do
  end subroutine

  !> Collective: writes the catalogue. Each rank writes how many octs it holds and how many came to it, then its octs.
  subroutine save()
    integer :: i, unit
    character(400) :: path
    write (path, '(2a, i0, a)') trim(folder), '/clumps.', step, trim(ending)
    call inselberg_write(engine, path, code)
    call check('catalogue')
    write (path, '(2a, i0, a, i0)') trim(folder), '/octs.', step, '.', myid - 1
    open (newunit=unit, file=path)
    write (unit, '(2(i0, 1x))') sum(numbl), n_came
    do i = 1, size(list)
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
