! A clump finder for RAMSES: this file calls PHEW of the library Inselberg in place of RAMSES's own finder. See README.md.
!
! The finder leaves what RAMSES's own leaves: flag2, the test cells, the arrays of peaks, and their communicator. So formation of
! sinks, unbinding, merger trees and text files are those of RAMSES.
#if NDIM==3
module inselberg_clumps
  use, intrinsic :: iso_c_binding, only: c_double, c_int32_t, c_int64_t
  use, intrinsic :: iso_fortran_env, only: output_unit
  use amr_commons, only: dp, aexp, boxlen, cosmo, flag2, h0, headl, hydro, icoarse_max, icoarse_min, ifout, jcoarse_max, &
    jcoarse_min, kcoarse_max, kcoarse_min, levelmin, myid, ncoarse, ncpu, next, ngridmax, nlevelmax, nrestart, nstep_coarse, &
    nstep_coarse_old, numbl, nx, ny, nz, omega_b, omega_k, omega_l, omega_m, pic, poisson, son, t, twotondim, unbind, xg
  use clfind_commons
  use hydro_commons, only: mass_sph, nvar
  use pm_commons, only: mp
  use mpi_mod
  use inselberg
  implicit none
  private
  public :: refuse_parameters, is_restart, output_folder, deposit_rho, count_cells, find_peaks, report

  !> Ending of the catalogue: '.csv' where the library is built without HDF5.
  character(*), parameter :: ending = '.hdf5'

  !> One engine for the whole run.
  type(inselberg_engine), save :: engine
  logical, save :: is_open = .false.
  !> Isolated peaks below the relevance threshold: RAMSES keeps them, but they are no clumps.
  integer, save :: n_isolated = 0

  !> The octs of this rank: their numbers in RAMSES's arrays, and the mesh as the library takes it.
  type :: oct_list
    integer(c_int32_t), allocatable :: igrid(:), level(:), position(:, :), split(:)
  end type

  !> The clump of each test cell of this rank, and the clump whose peak it is, by the library's numbers; 0 for none.
  type :: cell_labels
    integer(c_int32_t), allocatable :: clump(:), peak(:)
  end type

contains

  !> Ends a run that the finder cannot serve, after all reasons. All ranks have read the same parameters.
  subroutine refuse_parameters()
    type(inselberg_engine) :: alone
    integer(c_int32_t) :: code, ignored
    logical :: is_refused
    is_refused = .false.
    if (ivar_clump > nvar .or. ivar_clump < -1) call refuse('ivar_clump is not -1, 0, or the number of a hydro variable')
    if (ivar_clump > 0 .and. .not. hydro) call refuse('ivar_clump > 0 needs hydro=.true.')
    if (ivar_clump <= 0 .and. .not. poisson) call refuse('ivar_clump <= 0 needs poisson=.true.')
    if (unbind .and. .not. pic) call refuse('unbind needs pic=.true.')
    call inselberg_open_serial(alone, 1, code)
    if (code == inselberg_done) call set_thresholds(alone, code)
    ! A search in one cell checks the thresholds together.
    if (code == inselberg_done) call inselberg_set_box(alone, inselberg_box(), code)
    if (code == inselberg_done) call inselberg_set_leaves(alone, [0], reshape([0, 0, 0], [3, 1]), code)
    if (code == inselberg_done) call inselberg_phew(alone, [0d0], code)
    if (code /= inselberg_done) call refuse(inselberg_message())
    call inselberg_free(alone, ignored)
    if (is_refused) call stop_run()
  contains
    subroutine refuse(reason)
      character(*), intent(in) :: reason
      is_refused = .true.
      if (myid == 1) print '(2a)', ' Inselberg cannot be the clump finder of this run: ', reason
    end subroutine
  end subroutine

  subroutine stop_run()
    integer :: info
    info = 0
    flush (output_unit)
#ifndef WITHOUTMPI
    call MPI_BARRIER(MPI_COMM_WORLD, info)
#endif
    call clean_stop
  end subroutine

  !> Whether this is the step of a restart, at which RAMSES writes nothing.
  logical function is_restart()
    if (nstep_coarse > 0) then
      is_restart = nstep_coarse == nstep_coarse_old
    else
      is_restart = nrestart > 0
    end if
  end function

  !> Computes rho of particles: RAMSES's finder does it before it looks for cells above the threshold, which here finds none.
  subroutine deposit_rho(create_output)
    logical, intent(in) :: create_output
    real(dp) :: kept
    logical :: is_unbinding
    kept = density_threshold
    is_unbinding = unbind
    density_threshold = huge(kept)
    unbind = .false.
    call ramses_clump_finder(create_output, .false.)
    density_threshold = kept
    unbind = is_unbinding
  end subroutine

  !> Lists the test cells of this rank, as RAMSES does, and allocates what RAMSES frees. Returns their number on all ranks.
  integer(c_int64_t) function count_cells(density) result(n_cells_above)
    real(dp), intent(in) :: density(*)
    integer :: ilevel, i, info
    integer(c_int64_t) :: n_here
    ntest = 0
    do ilevel = levelmin, nlevelmax
      call count_test_particle(density, ilevel, 0, 1)
    end do
    if (ntest > 0) then
      allocate (denp(ntest), levp(ntest), icellp(ntest), imaxp(ntest), testp_sort(ntest))
      itest = 0
      do ilevel = levelmin, nlevelmax
        call count_test_particle(density, ilevel, 0, 2)
      end do
      deallocate (denp)
      ! By level, which is all that later users need.
      testp_sort = [(i, i=1, ntest)]
    end if
    n_here = ntest
    n_cells_above = n_here
    info = 0
#ifndef WITHOUTMPI
    call MPI_ALLREDUCE(n_here, n_cells_above, 1, MPI_INTEGER8, MPI_SUM, MPI_COMM_WORLD, info)
#endif
  end function

  !> Fills flag2 and the arrays of peaks. `density` is the density that is searched, `mass_density` that of which masses are.
  !> At outputs the catalogue is written as well. `seconds` are those of the catalogue.
  subroutine find_peaks(density, mass_density, n_cells_above, create_output, seconds)
    real(dp), target, intent(in) :: density(*), mass_density(*)
    integer(c_int64_t), intent(in) :: n_cells_above
    logical, intent(in) :: create_output
    real(c_double), intent(out) :: seconds
    type(cell_labels) :: labels
    integer(c_int32_t), allocatable :: numbers(:)
    integer(c_int32_t) :: code
    integer :: ilevel
    allocate (labels%clump(ntest), labels%peak(ntest))
    labels%clump = 0
    labels%peak = 0
    code = inselberg_done
    if (n_cells_above > 0) call search(density, mass_density, create_output, labels, code)
    if (code /= inselberg_done) call fail()
    call count_peaks_of_ranks(labels%peak)
    call allocate_peaks(labels%peak, density)
    numbers = numbers_of_peaks(labels)
    ! Without cells above the threshold, counting them has cleared flag2 where anybody reads it.
    if (n_cells_above > 0) flag2 = 0
    if (ntest > 0) flag2(icellp) = number_of(numbers, labels%clump)
    do ilevel = nlevelmax, levelmin, -1
      if (n_cells_above > 0) call make_virtual_fine_int(flag2(1), ilevel)
    end do
    call allocate_peak_patch_arrays
    call build_peak_communicator
    seconds = 0
    if (npeaks_tot == 0) return
    if (ivar_clump > 0) call compute_clump_properties(density)
    if (ivar_clump <= 0) call compute_clump_properties(mass_density)
    call put_hierarchy(labels%peak, numbers)
    call know_relatives()
    if (create_output) call write_catalogue(seconds)
  end subroutine

  !> The run needs the clumps, so it ends.
  subroutine fail()
    if (myid == 1) print '(2a)', ' Inselberg: no clumps: ', inselberg_message()
    call stop_run()
  end subroutine

  !> Collective: PHEW, and the labels of the test cells. At outputs all octs are handed over where they lie, so that the catalogue
  !> has refined positions of peaks. For sinks the test cells suffice.
  subroutine search(density, mass_density, create_output, labels, code)
    real(dp), target, intent(in) :: density(*), mass_density(*)
    logical, intent(in) :: create_output
    type(cell_labels), intent(inout) :: labels
    integer(c_int32_t), intent(out) :: code
    code = inselberg_done
    if (.not. is_open) call open_engine(code)
    if (code == inselberg_done) call inselberg_set_box(engine, box_of_run(), code)
    if (code == inselberg_done) call set_thresholds(engine, code)
    if (code /= inselberg_done) return
    if (create_output) then
      call search_octs(density(ncoarse + 1), mass_density(ncoarse + 1), labels, code)
    else
      call search_test_cells(density, labels, code)
    end if
  end subroutine

  !> One thread, because RAMSES has a rank per core.
  subroutine open_engine(code)
    integer(c_int32_t), intent(out) :: code
#ifdef WITHOUTMPI
    call inselberg_open_serial(engine, 1, code)
#else
    call inselberg_open(engine, MPI_COMM_WORLD, 1, code)
#endif
    is_open = code == inselberg_done
  end subroutine

  !> The thresholds of &CLUMPFIND_PARAMS. RAMSES needs the clumps of haloes below the mass threshold too.
  subroutine set_thresholds(engine, code)
    type(inselberg_engine), intent(in) :: engine
    integer(c_int32_t), intent(out) :: code
    call inselberg_set(engine, 'compat', 'ramses', code)
    if (code == inselberg_done) call inselberg_set(engine, 'density_threshold', real(density_threshold, c_double), code)
    if (code == inselberg_done) call inselberg_set(engine, 'relevance_threshold', real(relevance_threshold, c_double), code)
    if (code == inselberg_done) call inselberg_set(engine, 'mass_threshold', 0, code)
    ! All saddles are above the density threshold.
    if (code == inselberg_done .and. saddle_threshold > 0) &
      call inselberg_set(engine, 'saddle_threshold', real(max(saddle_threshold, density_threshold), c_double), code)
  end subroutine

  !> The box without boundary regions, in code units.
  function box_of_run() result(box)
    type(inselberg_box) :: box
    real(dp) :: length, time, density, velocity, hydrogen, temperature
    call units(length, time, density, velocity, hydrogen, temperature)
    box%coarse = [icoarse_max - icoarse_min, jcoarse_max - jcoarse_min, kcoarse_max - kcoarse_min] + 1
    box%side = boxlen/box%coarse(1)
    box%periodic = merge(1, 0, box%coarse == [nx, ny, nz])
    box%time = t
    box%unit_length = length
    box%unit_density = density
    box%unit_time = time
    if (.not. cosmo) return
    box%aexp = aexp
    box%h0 = h0
    box%omega_m = omega_m
    box%omega_l = omega_l
    box%omega_k = omega_k
    box%omega_b = omega_b
  end function

  !> Labels by all octs of this rank. The arrays begin with RAMSES's first oct.
  subroutine search_octs(density, mass_density, labels, code)
    real(dp), target, intent(in) :: density(ngridmax, twotondim), mass_density(ngridmax, twotondim)
    type(cell_labels), intent(inout) :: labels
    integer(c_int32_t), intent(out) :: code
    type(oct_list), target :: octs
    type(inselberg_column), allocatable :: columns(:)
    call list_octs(octs)
    call inselberg_set_octs(engine, octs%level, octs%position, octs%split, code)
    columns = [inselberg_values('density', density, octs%igrid, item_dimension=1)]
    if (ivar_clump > 1) columns = [columns, inselberg_values('mass_density', mass_density, octs%igrid, item_dimension=1)]
    if (code == inselberg_done) call inselberg_phew(engine, columns, code)
    if (code == inselberg_done) call labels_of_octs(inselberg_clump_labels, octs, labels%clump, code)
    if (code == inselberg_done) call labels_of_octs(inselberg_peak_labels, octs, labels%peak, code)
  end subroutine

  !> Labels of one kind of the test cells, through flag2.
  subroutine labels_of_octs(which, octs, labels, code)
    integer(c_int32_t), intent(in) :: which
    type(oct_list), target, intent(in) :: octs
    integer(c_int32_t), intent(inout) :: labels(:)
    integer(c_int32_t), intent(out) :: code
    call into_cells(flag2(ncoarse + 1))
    if (code == inselberg_done .and. ntest > 0) labels = flag2(icellp)
  contains
    subroutine into_cells(cells)
      integer(c_int32_t), target, intent(inout) :: cells(ngridmax, twotondim)
      call inselberg_labels(engine, which, cells, code, index=octs%igrid, item_dimension=1)
    end subroutine
  end subroutine

  !> Labels by the test cells alone. Others are not denser than the threshold, so they do not matter.
  subroutine search_test_cells(density, labels, code)
    real(dp), target, intent(in) :: density(*)
    type(cell_labels), intent(inout) :: labels
    integer(c_int32_t), intent(out) :: code
    integer(c_int32_t), allocatable :: position(:, :), level(:)
    real(c_double), allocatable :: densities(:)
    integer :: i, c, igrid
    allocate (position(3, ntest), level(ntest), densities(ntest))
    do i = 1, ntest
      c = (icellp(i) - ncoarse - 1)/ngridmax
      igrid = icellp(i) - ncoarse - c*ngridmax
      level(i) = levp(i)
      densities(i) = density(icellp(i))
      position(:, i) = 2*position_of(igrid, levp(i)) + ibits(c, [0, 1, 2], 1)
    end do
    call inselberg_set_leaves(engine, level, position, code)
    if (code == inselberg_done) call inselberg_phew(engine, densities, code)
    if (code == inselberg_done) call inselberg_labels(engine, inselberg_clump_labels, labels%clump, code)
    if (code == inselberg_done) call inselberg_labels(engine, inselberg_peak_labels, labels%peak, code)
  end subroutine

  !> The octs in the linked lists of this rank, level by level.
  subroutine list_octs(octs)
    type(oct_list), intent(out) :: octs
    integer :: n, i, ilevel, igrid, last
    n = sum(numbl(myid, 1:nlevelmax))
    allocate (octs%igrid(n), octs%level(n), octs%position(3, n), octs%split(n))
    last = 0
    do ilevel = 1, nlevelmax
      igrid = headl(myid, ilevel)
      do i = last + 1, last + numbl(myid, ilevel)
        octs%igrid(i) = igrid
        octs%level(i) = ilevel
        octs%position(:, i) = position_of(igrid, ilevel)
        octs%split(i) = split_of(igrid)
        igrid = next(igrid)
      end do
      last = last + numbl(myid, ilevel)
    end do
  end subroutine

  !> Position of an oct on the grid of the level above. Centres of octs are in coarse cells, boundary regions included.
  function position_of(igrid, ilevel) result(position)
    integer, intent(in) :: igrid, ilevel
    integer(c_int32_t) :: position(3)
    position = floor((xg(igrid, :) - [icoarse_min, jcoarse_min, kcoarse_min])*2d0**(ilevel - 1))
  end function

  !> Mask of the cells of an oct that are split.
  function split_of(igrid) result(split)
    integer, intent(in) :: igrid
    integer(c_int32_t) :: split
    integer :: c
    split = 0
    do c = 0, twotondim - 1
      if (son(ncoarse + c*ngridmax + igrid) > 0) split = ibset(split, c)
    end do
  end function

  !> Collective: how many peaks each rank has, and the number that comes before its first one. RAMSES numbers peaks by rank.
  subroutine count_peaks_of_ranks(peak)
    integer(c_int32_t), intent(in) :: peak(:)
    integer :: icpu
    npeaks = count(peak > 0)
    allocate (npeaks_per_cpu(ncpu), ipeak_start(ncpu))
    npeaks_per_cpu = 0
    npeaks_per_cpu(myid) = npeaks
    call sum_over_ranks(npeaks_per_cpu)
    ipeak_start(1) = 0
    do icpu = 2, ncpu
      ipeak_start(icpu) = ipeak_start(icpu - 1) + npeaks_per_cpu(icpu - 1)
    end do
    npeaks_tot = sum(npeaks_per_cpu)
    npeaks_max = max(4*maxval(npeaks_per_cpu), 1000)
  end subroutine

  subroutine sum_over_ranks(numbers)
    integer(c_int32_t), intent(inout) :: numbers(:)
    integer :: info
    info = 0
#ifndef WITHOUTMPI
    call MPI_ALLREDUCE(MPI_IN_PLACE, numbers, size(numbers), MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, info)
#endif
  end subroutine

  integer function greatest_of_ranks(number) result(greatest)
    integer, intent(in) :: number
    integer :: info
    greatest = number
    info = 0
#ifndef WITHOUTMPI
    call MPI_ALLREDUCE(number, greatest, 1, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD, info)
#endif
  end function

  !> The cells of the peaks of this rank, in the order of the test cells.
  subroutine allocate_peaks(peak, density)
    integer(c_int32_t), intent(in) :: peak(:)
    real(dp), intent(in) :: density(*)
    integer :: i, ipeak
    allocate (max_dens(npeaks_max), peak_cell(npeaks_max), peak_cell_level(npeaks_max))
    max_dens = 0
    peak_cell = 0
    peak_cell_level = 0
    ipeak = 0
    do i = 1, ntest
      if (peak(i) == 0) cycle
      ipeak = ipeak + 1
      max_dens(ipeak) = density(icellp(i))
      peak_cell(ipeak) = icellp(i)
      peak_cell_level(ipeak) = levp(i)
    end do
  end subroutine

  !> Collective: RAMSES's number of each clump by that of the library.
  function numbers_of_peaks(labels) result(numbers)
    type(cell_labels), intent(in) :: labels
    integer(c_int32_t), allocatable :: numbers(:)
    integer :: i, ipeak
    allocate (numbers(greatest_of_ranks(maxval([labels%clump, 0]))))
    numbers = 0
    ipeak = ipeak_start(myid)
    do i = 1, ntest
      if (labels%peak(i) == 0) cycle
      ipeak = ipeak + 1
      numbers(labels%peak(i)) = ipeak
    end do
    call sum_over_ranks(numbers)
  end function

  !> RAMSES's numbers of these clumps; 0 stays.
  pure function number_of(numbers, labels)
    integer(c_int32_t), intent(in) :: numbers(:), labels(:)
    integer(c_int32_t) :: number_of(size(labels))
    integer :: i
    do i = 1, size(labels)
      number_of(i) = 0
      if (labels(i) > 0) number_of(i) = numbers(labels(i))
    end do
  end function

  !> Collective: relevance, level, parent and halo of the peaks of this rank. An isolated peak that is not relevant is no clump: it
  !> has no row, but may form a sink.
  subroutine put_hierarchy(peak, numbers)
    integer(c_int32_t), intent(in) :: peak(:), numbers(:)
    integer(c_int32_t), allocatable :: label(:)
    integer(c_int64_t), pointer :: id(:), level(:), parent(:), halo(:), cells(:)
    real(c_double), pointer :: relevances(:), masses(:)
    integer(c_int32_t) :: code, without_row(1)
    integer :: ipeak, row
    label = pack(peak, peak > 0)
    call inselberg_pick_rows(engine, 'clumps', label, code)
    if (code == inselberg_done) call inselberg_pick_rows(engine, 'haloes', label, code)
    if (code /= inselberg_done) call fail()
    call inselberg_get(engine, 'clumps', 'id', id, code)
    call inselberg_get(engine, 'clumps', 'level', level, code)
    call inselberg_get(engine, 'clumps', 'parent', parent, code)
    call inselberg_get(engine, 'clumps', 'halo', halo, code)
    call inselberg_get(engine, 'clumps', 'relevance', relevances, code)
    call inselberg_get(engine, 'clumps', 'halo_mass', masses, code)
    row = 1
    do ipeak = 1, npeaks
      new_peak(ipeak) = ipeak_start(myid) + ipeak
      relevance(ipeak) = max_dens(ipeak)/density_threshold
      if (saddle_threshold > 0) ind_halo(ipeak) = new_peak(ipeak)
      if (row > size(id)) cycle
      if (id(row) /= label(ipeak)) cycle
      relevance(ipeak) = real(relevances(row), dp)
      if (saddle_threshold > 0) then
        new_peak(ipeak) = numbers(parent(row))
        lev_peak(ipeak) = int(level(row))
        ind_halo(ipeak) = numbers(halo(row))
        halo_mass(ipeak) = real(masses(row), dp)
      end if
      row = row + 1
    end do
    without_row = npeaks - (row - 1)
    call sum_over_ranks(without_row)
    n_isolated = without_row(1)
    mergelevel_max = greatest_of_ranks(maxval([lev_peak(1:npeaks), 0]))
    if (.not. saddle_threshold > 0) return
    call inselberg_get(engine, 'haloes', 'id', id, code)
    call inselberg_get(engine, 'haloes', 'n_cells', cells, code)
    row = 1
    do ipeak = 1, npeaks
      if (row > size(id)) exit
      if (id(row) /= label(ipeak)) cycle
      n_cells_halo(ipeak) = int(cells(row))
      row = row + 1
    end do
  end subroutine

  !> Collective: makes parents and haloes of all peaks that this rank knows known to it, as those of RAMSES's merging are.
  subroutine know_relatives()
    integer :: ipeak, local, known
    do
      known = hfree
      do ipeak = 1, known - 1
        if (new_peak(ipeak) > 0) call get_local_peak_id(new_peak(ipeak), local)
        if (ind_halo(ipeak) > 0) call get_local_peak_id(ind_halo(ipeak), local)
      end do
      call build_peak_communicator
      call boundary_peak_int(new_peak)
      call boundary_peak_int(ind_halo)
      if (greatest_of_ranks(hfree - known) == 0) exit
    end do
  end subroutine

  !> Collective: the catalogue, without haloes below the mass threshold. If it cannot be written, the run goes on without it.
  subroutine write_catalogue(seconds)
    real(c_double), intent(out) :: seconds
    integer(c_int64_t) :: clock(2), rate
    integer(c_int32_t) :: code
    call system_clock(clock(1), rate)
    call create_output_dirs(output_folder())
    code = inselberg_done
    if (mass_threshold > 0) call inselberg_set(engine, 'mass_threshold', least_mass(), code)
    if (mass_threshold > 0 .and. code == inselberg_done) call inselberg_recut(engine, code)
    if (code == inselberg_done) call inselberg_write(engine, catalogue(), code)
    call system_clock(clock(2))
    seconds = real(clock(2) - clock(1), c_double)/rate
    if (code /= inselberg_done .and. myid == 1) print '(2a)', ' Inselberg: no catalogue: ', inselberg_message()
  end subroutine

  !> mass_threshold counts the least mass of a particle, or mass_sph for gas.
  real(c_double) function least_mass()
    real(c_double) :: lightest
    integer :: info
    lightest = mass_sph
    info = 0
    if (ivar_clump <= 0 .and. pic) then
      lightest = minval(mp, mp > 0)  ! huge without particles
#ifndef WITHOUTMPI
      call MPI_ALLREDUCE(MPI_IN_PLACE, lightest, 1, MPI_DOUBLE_PRECISION, MPI_MIN, MPI_COMM_WORLD, info)
#endif
    end if
    least_mass = min(mass_threshold*lightest, huge(lightest))
  end function

  !> Path of the catalogue.
  function catalogue() result(path)
    character(:), allocatable :: path
    character(5) :: number
    call title(ifout, number)
    path = trim(output_folder())//'/inselberg_'//number//ending
  end function

  !> Folder of the output that RAMSES is about to write.
  character(80) function output_folder()
    character(5) :: number
    call title(ifout, number)
    output_folder = 'output_'//number
  end function

  !> What was found, and the seconds of the whole call and of the catalogue. Without a saddle threshold there are no haloes. Coarse
  !> steps without peaks say nothing.
  subroutine report(create_output, seconds, of_catalogue)
    logical, intent(in) :: create_output
    real(c_double), intent(in) :: seconds, of_catalogue
    integer(c_int64_t) :: here, n_clumps, n_haloes
    integer(c_int32_t) :: code
    if (npeaks_tot == 0) then
      if (myid == 1 .and. create_output) print '(2a)', ' Inselberg: no cell above the density threshold, ', in_seconds(seconds)
      return
    end if
    call inselberg_rows(engine, 'clumps', here, n_clumps, code)
    call inselberg_rows(engine, 'haloes', here, n_haloes, code)
    if (myid /= 1) return
    write (*, '(a, i0, a)', advance='no') ' Inselberg: ', n_clumps, ' clumps'
    if (saddle_threshold > 0) then
      write (*, '(a, i0, a)', advance='no') ' and ', n_haloes, ' haloes'
    else if (n_isolated > 0) then
      write (*, '(a, i0, a)', advance='no') ' and ', n_isolated, ' isolated peaks below the relevance threshold'
    end if
    write (*, '(2a)', advance='no') ' in ', in_seconds(seconds)
    if (of_catalogue > 0) write (*, '(2a)', advance='no') ', of which the catalogue ', in_seconds(of_catalogue)
    print '(a)', ''
  end subroutine

  function in_seconds(seconds) result(text)
    real(c_double), intent(in) :: seconds
    character(:), allocatable :: text
    character(20) :: number
    write (number, '(f20.3)') seconds
    text = trim(adjustl(number))//' s'
  end function

end module

!> Takes the place of RAMSES's subroutine of this name. At outputs (create_output) it writes the catalogue and what RAMSES's own
!> finder writes. For sinks (keep_alive) it leaves its arrays to create_sink.
subroutine clump_finder(create_output, keep_alive)
  use, intrinsic :: iso_c_binding, only: c_double, c_int64_t
  use amr_commons, only: pic, unbind
  use clfind_commons
  use hydro_commons, only: uold
  use poisson_commons, only: rho
  use inselberg_clumps
  implicit none
  logical :: create_output, keep_alive
  integer(c_int64_t) :: clock(2), rate, n_cells_above
  real(c_double) :: of_catalogue

  if (create_output .and. is_restart()) return
  call system_clock(clock(1), rate)
  if (ivar_clump <= 0) then
    call deposit_rho(create_output)
    n_cells_above = count_cells(rho)
    call find_peaks(rho, rho, n_cells_above, create_output, of_catalogue)
  else
    n_cells_above = count_cells(uold(:, ivar_clump))
    call find_peaks(uold(:, ivar_clump), uold(:, 1), n_cells_above, create_output, of_catalogue)
  end if
  call system_clock(clock(2))
  call report(create_output, real(clock(2) - clock(1), c_double)/rate, of_catalogue)

  if (create_output .and. unbind .and. pic) then
    call unbinding
  else if (create_output .and. npeaks_tot > 0) then
    call write_clump_properties(.true.)
    if (ivar_clump <= 0 .and. pic) call output_part_clump_id
    if (output_clump_field) call write_clump_field
  end if
  if (keep_alive) return
  deallocate (npeaks_per_cpu, ipeak_start)
  if (ntest > 0) deallocate (icellp, levp, testp_sort, imaxp)
  call deallocate_all
end subroutine

!> Takes the place of RAMSES's subroutine of this name: what cannot work ends the run here, before there are initial conditions.
subroutine read_clumpfind_params()
  use inselberg_clumps, only: refuse_parameters
  implicit none
  call ramses_read_clumpfind_params
  call refuse_parameters
end subroutine

!> Takes the place of sparse_initialize in RAMSES's file: a matrix of saddles without room for any, because the library keeps them.
subroutine allocate_no_saddles(m, matrix)
  use sparse_matrix, only: sparse_mat
  implicit none
  integer :: m
  type(sparse_mat) :: matrix
  allocate (matrix%val(1), matrix%next(1), matrix%col(0:1), matrix%first(m), matrix%maxval(m), matrix%maxloc(m))
  matrix%first = 0
  matrix%used = 0
end subroutine
#endif
