! What contrib/ramses/inselberg_clumps.f90 uses of RAMSES, by the same names, in a small serial program: ramses_stubs FOLDER
!
! A mesh of levels 1 to 4 has three peaks: two that touch, and a faint one alone. The finder is called as at the formation of sinks
! and as at an output. With more arguments the parameters are wrong, and the run must end when they are read.
module amr_commons
  implicit none
  integer, parameter :: dp = kind(1d0), twotondim = 8, ncoarse = 1, ngridmax = 100, ncpu = 1, myid = 1
  integer, parameter :: nx = 1, ny = 1, nz = 1, icoarse_min = 0, icoarse_max = 0, jcoarse_min = 0, jcoarse_max = 0
  integer, parameter :: kcoarse_min = 0, kcoarse_max = 0, levelmin = 3, nlevelmax = 4, nrestart = 0
  integer :: ifout = 1, nstep_coarse = 1, nstep_coarse_old = 0
  integer :: headl(ncpu, nlevelmax) = 0, numbl(ncpu, nlevelmax) = 0, next(ngridmax) = 0
  integer :: son(ncoarse + twotondim*ngridmax) = 0, flag2(ncoarse + twotondim*ngridmax) = 0
  real(dp) :: xg(ngridmax, 3) = 0, boxlen = 2, t = 0, aexp = 1, h0 = 0, omega_m = 0, omega_l = 0, omega_k = 0, omega_b = 0
  logical :: cosmo = .false., hydro = .true., pic = .false., poisson = .true., unbind = .false.
end module

module sparse_matrix
  use amr_commons, only: dp
  implicit none
  type sparse_mat
    real(dp), allocatable :: val(:), maxval(:)
    integer, allocatable :: next(:), col(:), first(:), maxloc(:)
    integer :: used
  end type
end module

module clfind_commons
  use amr_commons, only: dp
  use sparse_matrix
  implicit none
  integer :: ntest, itest, ivar_clump = 1, npeaks, npeaks_tot, npeaks_max, mergelevel_max, hfree
  integer, allocatable, dimension(:) :: npeaks_per_cpu, ipeak_start, peak_cell, peak_cell_level, n_cells_halo, lev_peak, new_peak, &
    ind_halo, imaxp, icellp, levp, testp_sort
  real(dp), allocatable, dimension(:) :: denp, max_dens, relevance, halo_mass
  real(dp) :: relevance_threshold = 2, density_threshold = 1, saddle_threshold = 0.5, mass_threshold = 0
  logical :: output_clump_field = .true.
  type(sparse_mat) :: saddles
  !> What the finder called.
  character(200) :: calls = ' '
end module

module hydro_commons
  use amr_commons, only: dp, ncoarse, ngridmax, twotondim
  implicit none
  integer, parameter :: nvar = 5
  real(dp) :: uold(ncoarse + twotondim*ngridmax, nvar) = 0, mass_sph = 1
end module

module pm_commons
  use amr_commons, only: dp
  implicit none
  real(dp) :: mp(1) = 1
end module

module poisson_commons
  use amr_commons, only: dp, ncoarse, ngridmax, twotondim
  implicit none
  real(dp) :: rho(ncoarse + twotondim*ngridmax) = 0
end module

module mpi_mod
end module

subroutine count_test_particle(density, level, skipped, action)
  use amr_commons
  use clfind_commons
  implicit none
  real(dp) :: density(*)
  integer :: level, skipped, action, igrid, c, cell
  if (skipped /= 0) error stop 'a serial program skips nothing'
  igrid = headl(1, level)
  do while (igrid /= 0)
    do c = 0, twotondim - 1
      cell = ncoarse + c*ngridmax + igrid
      if (action == 1) flag2(cell) = 0
      if (son(cell) /= 0 .or. .not. density(cell) > density_threshold) cycle
      if (action == 1) then
        flag2(cell) = 1
        ntest = ntest + 1
        cycle
      end if
      itest = itest + 1
      icellp(itest) = cell
      levp(itest) = level
      denp(itest) = density(cell)
    end do
    igrid = next(igrid)
  end do
end subroutine

subroutine allocate_peak_patch_arrays
  use clfind_commons
  implicit none
  external allocate_no_saddles
  allocate (n_cells_halo(npeaks_max), lev_peak(npeaks_max), new_peak(npeaks_max), ind_halo(npeaks_max))
  allocate (relevance(npeaks_max), halo_mass(npeaks_max))
  n_cells_halo = 0
  lev_peak = 0
  new_peak = 0
  ind_halo = 0
  relevance = 1
  halo_mass = -1
  hfree = npeaks + 1
  call allocate_no_saddles(npeaks_max, saddles)
end subroutine

subroutine deallocate_all
  use clfind_commons
  implicit none
  deallocate (n_cells_halo, lev_peak, new_peak, ind_halo, relevance, halo_mass, max_dens, peak_cell, peak_cell_level)
  deallocate (saddles%val, saddles%maxval, saddles%next, saddles%col, saddles%first, saddles%maxloc)
end subroutine

subroutine get_local_peak_id(global, local)
  use clfind_commons, only: npeaks
  implicit none
  integer :: global, local
  local = global
  if (local > npeaks) error stop 'a peak that is not there'
end subroutine

subroutine build_peak_communicator
end subroutine

subroutine boundary_peak_int(peaks)
  use clfind_commons, only: npeaks_max
  implicit none
  integer :: peaks(npeaks_max)
  if (any(peaks < 0)) error stop 'a number of a peak below 0'
end subroutine

subroutine make_virtual_fine_int(cells, level)
  implicit none
  integer :: cells(*), level
  if (cells(1) /= 0 .or. level < 0) error stop 'the coarse cell is labelled'
end subroutine

subroutine note(call)
  use clfind_commons, only: calls
  implicit none
  character(*) :: call
  calls = trim(calls)//' '//call
end subroutine

subroutine compute_clump_properties(density)
  use amr_commons, only: dp
  use clfind_commons, only: halo_mass, max_dens
  implicit none
  real(dp) :: density(*)
  if (density(1) < 0) error stop 'a density below 0'
  halo_mass = max_dens
  call note('properties')
end subroutine

subroutine write_clump_properties(to_file)
  implicit none
  logical :: to_file
  if (to_file) call note('text')
end subroutine

subroutine output_part_clump_id
  call note('particles')
end subroutine

subroutine write_clump_field
  call note('field')
end subroutine

subroutine unbinding
  call note('unbinding')
end subroutine

subroutine ramses_clump_finder(create_output, keep_alive)
  implicit none
  logical :: create_output, keep_alive
  if (create_output .or. .not. keep_alive) call note('deposit')
end subroutine

subroutine ramses_read_clumpfind_params
  call note('parameters')
end subroutine

subroutine clean_stop
  stop 3
end subroutine

subroutine units(length, time, density, velocity, hydrogen, temperature)
  use amr_commons, only: dp
  implicit none
  real(dp) :: length, time, density, velocity, hydrogen, temperature
  length = 3d18
  time = 3d13
  density = 1d-20
  velocity = length/time
  hydrogen = 1
  temperature = 1
end subroutine

subroutine title(n, number)
  implicit none
  integer :: n
  character(5) :: number
  write (number, '(i5.5)') n
end subroutine

subroutine create_output_dirs(folder)
  implicit none
  character(*) :: folder
  call execute_command_line('mkdir -p '//trim(folder))
end subroutine

program ramses_stubs
  use amr_commons
  use clfind_commons
  use hydro_commons, only: uold
  implicit none
  integer :: n_octs = 0, of_sinks(ncoarse + twotondim*ngridmax)
  character(300) :: folder
  logical :: is_there

  call get_command_argument(1, folder)
  if (command_argument_count() > 1) then
    ivar_clump = 9
    relevance_threshold = -1
    hydro = .false.
    call read_clumpfind_params
    error stop 'wrong parameters'
  end if
  call chdir_to(folder)
  call read_clumpfind_params
  call make_mesh()

  call clump_finder(.false., .true.)
  call check_arrays()
  of_sinks = flag2
  call free_arrays()
  if (calls /= ' parameters properties') error stop 'other calls for sinks'

  call clump_finder(.true., .false.)
  if (any(flag2 /= of_sinks)) error stop 'other clumps at an output'
  if (calls /= ' parameters properties properties text field') error stop 'other calls at an output'
  inquire (file='output_00001/inselberg_00001.hdf5', exist=is_there)
  if (.not. is_there) error stop 'no catalogue'
  if (allocated(icellp)) error stop 'arrays of the last output'

  density_threshold = 1d3
  call clump_finder(.false., .true.)
  if (npeaks_tot /= 0 .or. any(flag2 /= 0)) error stop 'clumps of nothing'
  call free_arrays()
  print '(a)', 'all good'

contains

  subroutine chdir_to(path)
    character(*), intent(in) :: path
    integer :: failed
    call chdir(trim(path), failed)
    if (failed /= 0) error stop 'no folder'
  end subroutine

  !> All octs of levels 1 to 3, and those of level 4 around the first peak.
  subroutine make_mesh()
    son(1) = 1
    call make_oct([0.5d0, 0.5d0, 0.5d0], 1)
  end subroutine

  recursive subroutine make_oct(x, level)
    real(dp), intent(in) :: x(3)
    integer, intent(in) :: level
    real(dp) :: centre(3)
    integer :: igrid, c, cell
    n_octs = n_octs + 1
    igrid = n_octs
    xg(igrid, :) = x
    next(igrid) = headl(1, level)
    headl(1, level) = igrid
    numbl(1, level) = numbl(1, level) + 1
    do c = 0, twotondim - 1
      cell = ncoarse + c*ngridmax + igrid
      centre = x + (ibits(c, [0, 1, 2], 1) - 0.5d0)*0.5d0**level
      uold(cell, 1) = density(centre)
      if (level < 3 .or. (level == 3 .and. all(abs(centre - 0.25d0) < 0.1d0))) then
        son(cell) = n_octs + 1
        call make_oct(centre, level + 1)
      end if
    end do
  end subroutine

  real(dp) function density(x)
    real(dp), intent(in) :: x(3)
    density = 0.5d0 + peak(x, [0.25d0, 0.25d0, 0.25d0], 40d0) + peak(x, [0.56d0, 0.31d0, 0.31d0], 30d0) + &
      peak(x, [0.81d0, 0.81d0, 0.81d0], 1.2d0)
  end function

  real(dp) function peak(x, centre, height)
    real(dp), intent(in) :: x(3), centre(3), height
    peak = height*exp(-sum((x - centre)**2)/0.012d0)
  end function

  !> Two clumps of a halo, and a peak that is not relevant but kept.
  subroutine check_arrays()
    integer :: i, main, second, alone
    if (npeaks /= 3 .or. npeaks_tot /= 3) error stop 'not three peaks'
    if (any(flag2(icellp) < 1) .or. count(flag2 > 0) /= ntest) error stop 'not all cells above the threshold have clumps'
    do i = 1, npeaks
      if (flag2(peak_cell(i)) /= i) error stop 'a peak outside of its clump'
      if (abs(max_dens(i) - maxval(uold(icellp, 1), flag2(icellp) == i)) > 0) error stop 'a peak that is not the densest cell'
    end do
    main = maxloc(max_dens(:npeaks), 1)
    alone = minloc(max_dens(:npeaks), 1)
    second = 6 - main - alone
    if (peak_cell_level(main) /= 4 .or. peak_cell_level(second) /= 3) error stop 'levels of peaks'
    if (any(ind_halo([main, second, alone]) /= [main, main, alone])) error stop 'haloes'
    if (any(new_peak([main, second, alone]) /= [main, main, alone])) error stop 'parents'
    if (relevance(second) <= relevance_threshold) error stop 'a second clump that is not relevant'
    if (abs(relevance(alone) - max_dens(alone)/density_threshold) > 0) error stop 'relevance of a peak alone'
    if (relevance(alone) >= relevance_threshold) error stop 'a peak alone that is relevant'
    if (n_cells_halo(main) /= count(flag2(icellp) == main .or. flag2(icellp) == second)) error stop 'cells of the halo'
    if (abs(halo_mass(main) - halo_mass(second)) > 0) error stop 'mass of the halo'
  end subroutine

  subroutine free_arrays()
    deallocate (npeaks_per_cpu, ipeak_start)
    if (ntest > 0) deallocate (icellp, levp, testp_sort, imaxp)
    call deallocate_all
  end subroutine

end program
