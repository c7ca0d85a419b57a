! A program that finds objects itself and grows a merger tree of them: trees SERIES FOLDER ENDING
!
! As trees.c, with the members of each rank's objects one after another, and all columns packed.
program host
#ifdef WITH_MPI
  use mpi
#endif
  use, intrinsic :: iso_c_binding
  use inselberg
  implicit none
  character(1000) :: series, folder, ending
  type(inselberg_engine) :: engine
  type(inselberg_tree) :: tree, other
  integer(c_int32_t) :: code
  integer(c_int64_t) :: n_outputs
  integer :: unit, n_series, k, rank, n_ranks, error

  integer :: number
  real(c_double) :: aexp
  integer(c_int64_t), allocatable, target :: id(:), parent(:), member(:)
  integer(c_int32_t), allocatable, target :: n_members(:), member_type(:)
  real(c_double), allocatable, target :: mass(:), place(:, :)

  rank = 0
  n_ranks = 1
  error = 0
  call get_command_argument(1, series)
  call get_command_argument(2, folder)
  call get_command_argument(3, ending)
#ifdef WITH_MPI
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, n_ranks, error)
  call inselberg_open(engine, MPI_COMM_WORLD, 1, code)
#else
  call inselberg_open_serial(engine, 1, code)
#endif
  call require(code == inselberg_done, 'open')
  call inselberg_set(engine, 'tree_gap', 2, code)
  call inselberg_tree_begin(engine, tree, code)
  call require(code == inselberg_done, 'a tree')
  call inselberg_set(engine, 'tree_gap', 0, code)
  call inselberg_set(engine, 'tree_tracers', 7, code)
  call inselberg_set(engine, 'tree_orphans', 'false', code)
  call inselberg_tree_begin(engine, other, code)
  call require(code == inselberg_done, 'another tree')

  open (newunit=unit, file=trim(series), status='old', action='read')
  read (unit, *) n_series
  do k = 1, n_series
    call read_output
    call add(tree)
    call require(code == inselberg_done, 'an output')
    call add(tree)
    call require(code == inselberg_invalid_argument, 'the same output again')
    call add(other)
    call require(code == inselberg_done, 'an output of the other tree')
    call inselberg_tree_outputs(tree, n_outputs, code)
    call require(n_outputs == k, 'the number of outputs')
    if (k == 5) call write_tree(tree, 'half')
  end do
  close (unit)
  call write_tree(tree, 'whole')
  call write_tree(other, 'other')

  call inselberg_tree_free(tree, code)
  call require(code == inselberg_done, 'free')
  call inselberg_tree_outputs(tree, n_outputs, code)
  call require(code == inselberg_invalid_argument, 'a tree that is gone')
  call inselberg_tree_free(other, code)
  call inselberg_free(engine, code)
  call require(code == inselberg_done, 'free the engine')
#ifdef WITH_MPI
  call MPI_Finalize(error)
#endif
  print '(a)', 'all good'

contains

  subroutine require(is_good, what)
    logical, intent(in) :: is_good
    character(*), intent(in) :: what
    if (is_good) return
    print '(4a)', what, '; last message: ', inselberg_message()
    error stop 1
  end subroutine

  !> The objects of this rank, one in n_ranks.
  subroutine read_output
    integer :: n, m, i, own, own_members, of_object
    integer(c_int64_t) :: one_id, one_parent, one_member
    integer :: one_type
    real(c_double) :: one_mass, one_place(6)
    integer, allocatable :: counts(:)
    read (unit, *) number, aexp, n, m
    if (allocated(id)) deallocate (id, parent, member, n_members, member_type, mass, place)
    allocate (id(n), parent(n), member(m), n_members(n), member_type(m), mass(n), place(6, n), counts(n))
    own = 0
    do i = 1, n
      read (unit, *) one_id, one_parent, one_mass, one_place, counts(i)
      if (mod(i, n_ranks) /= rank) cycle
      own = own + 1
      id(own) = one_id
      parent(own) = one_parent
      mass(own) = one_mass
      place(:, own) = one_place
      n_members(own) = counts(i)
    end do
    own_members = 0
    do i = 1, n
      do of_object = 1, counts(i)
        read (unit, *) one_member, one_type
        if (mod(i, n_ranks) /= rank) cycle
        own_members = own_members + 1
        member(own_members) = one_member
        member_type(own_members) = one_type
      end do
    end do
    id = id(:own)
    parent = parent(:own)
    mass = mass(:own)
    place = place(:, :own)
    n_members = n_members(:own)
    member = member(:own_members)
    member_type = member_type(:own_members)
  end subroutine

  subroutine add(to)
    type(inselberg_tree), intent(in) :: to
    type(inselberg_box) :: box
    box%side = 2
    box%unit_length = 3d24*aexp
    box%unit_density = 1d-28
    box%unit_time = 1d17
    box%aexp = aexp
    box%h0 = 70
    box%omega_m = 0.3d0
    box%omega_l = 0.7d0
    if (mod(number, 4) == 0) then
      call inselberg_tree_add(to, number, box, id, int(n_members, c_int64_t), member, code, parent=parent, mass=mass, &
        position=place(1:3, :), velocity=place(4:6, :), member_type=member_type)
      return
    end if
    call inselberg_tree_add(to, number, box, [inselberg_values('id', id), inselberg_values('parent', parent), &
      inselberg_values('mass', mass), inselberg_values('position', place(1:3, :)), &
      inselberg_values('velocity', place(4:6, :)), inselberg_values('n_members', n_members), &
      inselberg_values('member', member), inselberg_values('member_type', member_type)], code)
  end subroutine

  subroutine write_tree(of, name)
    type(inselberg_tree), intent(in) :: of
    character(*), intent(in) :: name
    call inselberg_tree_write(of, trim(folder)//'/'//name//trim(ending), code)
    call require(code == inselberg_done, 'a tree in a file')
  end subroutine

end program
