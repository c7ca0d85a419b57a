! A clump finder for RAMSES: this file calls PHEW of the library Inselberg in place of RAMSES's own finder. See README.md.
#if NDIM==3
module inselberg_clumps
  use, intrinsic :: iso_c_binding, only: c_double, c_int32_t, c_int64_t
  use, intrinsic :: iso_fortran_env, only: output_unit
  use amr_commons, only: dp, aexp, boxlen, cosmo, h0, headl, icoarse_max, icoarse_min, ifout, jcoarse_max, jcoarse_min, &
    kcoarse_max, kcoarse_min, make_mergertree, myid, ncoarse, next, ngridmax, nlevelmax, nrestart, nstep_coarse, &
    nstep_coarse_old, numbl, nx, ny, nz, omega_b, omega_k, omega_l, omega_m, pic, son, t, twotondim, unbind, xg
  use clfind_commons, only: density_threshold, ivar_clump, mass_threshold, relevance_threshold, saddle_threshold
  use hydro_commons, only: mass_sph
  use pm_commons, only: mp
  use mpi_mod
  use inselberg
  implicit none
  private
  public :: refuse_other_uses, is_restart, output_folder, deposit_rho, find_clumps

  !> Ending of the catalogue: '.csv' where the library is built without HDF5.
  character(*), parameter :: ending = '.hdf5'

  !> The octs of this rank: their numbers in RAMSES's arrays, and the mesh as the library takes it.
  type :: oct_list
    integer(c_int32_t), allocatable :: igrid(:), level(:), position(:, :), split(:)
  end type

contains

  !> Ends a run that needs RAMSES's own finder, after one line that says so.
  subroutine refuse_other_uses(create_output)
    logical, intent(in) :: create_output
    character(:), allocatable :: parameter
    integer :: info
    info = 0
    if (make_mergertree) parameter = 'make_mergertree'
    if (unbind) parameter = 'unbind'
    if (.not. create_output) parameter = 'create_sinks'
    if (.not. allocated(parameter)) return
    if (myid == 1) print '(3a)', ' Inselberg: ', parameter, ' needs the clump finder of RAMSES; build RAMSES without this patch'
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
  subroutine deposit_rho()
    real(dp) :: kept
    kept = density_threshold
    density_threshold = huge(kept)
    call ramses_clump_finder(.true., .false.)
    density_threshold = kept
  end subroutine

  !> Labels the cells of this rank and writes the catalogue. Masses are those of mass_density. The arrays are those of RAMSES,
  !> from its first oct on. After an error the run goes on without a catalogue.
  subroutine find_clumps(density, mass_density, labels)
    real(dp), target, intent(in) :: density(ngridmax, twotondim), mass_density(ngridmax, twotondim)
    integer(c_int32_t), target, intent(inout) :: labels(ngridmax, twotondim)
    type(inselberg_engine) :: engine
    integer(c_int32_t) :: code, ignored
    integer(c_int64_t) :: clock(3), rate
    call system_clock(clock(1), rate)
    call open_engine(engine, code)
    if (code == inselberg_done) call set_parameters(engine, code)
    if (code == inselberg_done) call label_cells(engine, density, mass_density, labels, code)
    call system_clock(clock(2))
    if (code == inselberg_done) call inselberg_write(engine, catalogue(), code)
    call system_clock(clock(3))
    if (code == inselberg_done) then
      call report(engine, real(clock(2:3) - clock(1:2), c_double)/rate)
    else if (myid == 1) then
      print '(2a)', ' Inselberg: no clumps: ', inselberg_message()
    end if
    call inselberg_free(engine, ignored)
  end subroutine

  !> One thread, because RAMSES has a rank per core.
  subroutine open_engine(engine, code)
    type(inselberg_engine), intent(inout) :: engine
    integer(c_int32_t), intent(out) :: code
#ifdef WITHOUTMPI
    call inselberg_open_serial(engine, 1, code)
#else
    call inselberg_open(engine, MPI_COMM_WORLD, 1, code)
#endif
  end subroutine

  !> The box, and the thresholds of &CLUMPFIND_PARAMS.
  subroutine set_parameters(engine, code)
    type(inselberg_engine), intent(in) :: engine
    integer(c_int32_t), intent(out) :: code
    call inselberg_set_box(engine, box_of_run(), code)
    if (code == inselberg_done) call inselberg_set(engine, 'compat', 'ramses', code)
    if (code == inselberg_done) call inselberg_set(engine, 'density_threshold', real(density_threshold, c_double), code)
    if (code == inselberg_done) call inselberg_set(engine, 'relevance_threshold', real(relevance_threshold, c_double), code)
    if (code == inselberg_done) call inselberg_set(engine, 'mass_threshold', least_mass(), code)
    if (code == inselberg_done .and. saddle_threshold > 0) &
      call inselberg_set(engine, 'saddle_threshold', real(saddle_threshold, c_double), code)
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

  !> Hands over the octs and their densities where they lie, and takes the labels.
  subroutine label_cells(engine, density, mass_density, labels, code)
    type(inselberg_engine), intent(in) :: engine
    real(dp), target, intent(in) :: density(:, :), mass_density(:, :)
    integer(c_int32_t), target, intent(inout) :: labels(:, :)
    integer(c_int32_t), intent(out) :: code
    type(oct_list), target :: octs
    type(inselberg_column), allocatable :: columns(:)
    call list_octs(octs)
    call inselberg_set_octs(engine, octs%level, octs%position, octs%split, code)
    columns = [inselberg_values('density', density, octs%igrid, item_dimension=1)]
    if (ivar_clump > 1) columns = [columns, inselberg_values('mass_density', mass_density, octs%igrid, item_dimension=1)]
    if (code == inselberg_done) call inselberg_phew(engine, columns, code)
    if (code == inselberg_done) &
      call inselberg_labels(engine, inselberg_clump_labels, [inselberg_into(labels, octs%igrid, item_dimension=1)], code)
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

  !> Numbers of clumps and haloes, and seconds for them and for the catalogue.
  subroutine report(engine, seconds)
    type(inselberg_engine), intent(in) :: engine
    real(c_double), intent(in) :: seconds(2)
    integer(c_int64_t) :: here, n_clumps, n_haloes
    integer(c_int32_t) :: code
    call inselberg_rows(engine, 'clumps', here, n_clumps, code)
    call inselberg_rows(engine, 'haloes', here, n_haloes, code)
    if (myid == 1) print '(a, i0, a, i0, 2(a, f0.3), a)', ' Inselberg: ', n_clumps, ' clumps and ', n_haloes, &
      ' haloes in ', seconds(1), ' s, catalogue in ', seconds(2), ' s'
  end subroutine

end module

!> Takes the place of RAMSES's subroutine of this name. Labels of cells go to flag2.
subroutine clump_finder(create_output, keep_alive)
  use amr_commons, only: flag2, hydro, levelmin, myid, ncoarse, nlevelmax
  use clfind_commons, only: ivar_clump, output_clump_field
  use hydro_commons, only: uold
  use poisson_commons, only: rho
  use inselberg_clumps
  implicit none
  logical :: create_output, keep_alive
  integer :: ilevel

  call refuse_other_uses(create_output)
  if (is_restart()) return
  call create_output_dirs(output_folder())
  flag2 = 0
  if (ivar_clump <= 0) then
    call deposit_rho()
    call find_clumps(rho(ncoarse + 1), rho(ncoarse + 1), flag2(ncoarse + 1))
  else if (hydro) then
    call find_clumps(uold(ncoarse + 1, ivar_clump), uold(ncoarse + 1, 1), flag2(ncoarse + 1))
  else
    if (myid == 1) print '(a, i0, a)', ' Inselberg: no clumps: ivar_clump=', ivar_clump, ' needs hydro=.true.'
    return
  end if
  do ilevel = nlevelmax, levelmin, -1
    call make_virtual_fine_int(flag2(1), ilevel)
  end do
  if (output_clump_field) call write_clump_field
end subroutine
#endif
