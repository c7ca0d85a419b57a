! Inselberg: clumps and haloes in AMR density fields (PHEW), and friends-of-friends groups, inside a Fortran program.
!
! The rules for codes, ranks, memory and threads are those of inselberg.h. Each subroutine sets `code`: 0, or one of the codes
! below; inselberg_message then has one line of text.
!
! A call takes all its arrays at once, as inselberg_phew(engine, density, code, velocity_x=vx, velocity_y=vy, velocity_z=vz). They
! may be any arrays and expressions, with any strides; they are read where they lie. `index` lists the items to be read, from 1 on.
! Of an array of rank 2 the last dimension counts items and the first their parts; the other way round with item_dimension = 1.
!
! inselberg_values and inselberg_into describe single arrays for a later call: of other kinds, one per level, ... These are pointers
! or have the attribute target, and stay until the call returns. The compiler refuses expressions, which would be gone by then. Some
! compilers do not notice x(:, list), which is one: use index=list instead.
!
! The module is Fortran 2018: gfortran -std=f2018.
module inselberg
  use, intrinsic :: iso_c_binding
  implicit none
  private

  integer(c_int32_t), parameter, public :: inselberg_done = 0, inselberg_invalid_argument = 1, inselberg_invalid_cells = 2, &
    inselberg_invalid_value = 3, inselberg_read = 4, inselberg_write_failed = 5, inselberg_out_of_memory = 6, &
    inselberg_cancelled = 7, inselberg_timed_out = 8, inselberg_communication = 9, inselberg_internal = 10
  integer(c_int32_t), parameter, public :: inselberg_clump_labels = 1, inselberg_halo_labels = 2, inselberg_group_labels = 3, &
    inselberg_peak_labels = 4
  integer(c_int32_t), parameter :: abi_version = 2
  integer(c_int32_t), parameter :: type_f32 = 1, type_f64 = 2, type_i32 = 5, type_i64 = 6, type_u64 = 10
  integer, parameter :: name_length = 31

  !> A handle. One per rank.
  type, public :: inselberg_engine
    private
    type(c_ptr) :: handle = c_null_ptr
  end type

  !> A merger tree that grows output by output. One per rank.
  type, public :: inselberg_tree
    private
    type(c_ptr) :: handle = c_null_ptr
  end type

  !> The box; see inselberg_box in inselberg.h for the units. What is not set stays as it is here.
  type, public, bind(C) :: inselberg_box
    integer(c_size_t) :: size = 0
    real(c_double) :: side = 1
    integer(c_int32_t) :: coarse(3) = 1, periodic(3) = 1
    real(c_double) :: time = 0, unit_length = 0, unit_density = 0, unit_time = 0
    real(c_double) :: aexp = 0, h0 = 0, omega_m = 0, omega_l = 0, omega_k = 0, omega_b = 0
    real(c_double) :: omega_r = 0, omega_nu = 0, w0 = 0, wa = 0
  end type

  !> Where numbers lie, as C sees it.
  type, bind(C) :: c_column
    type(c_ptr) :: name = c_null_ptr, data = c_null_ptr
    integer(c_int64_t) :: items = 0, item_stride = 0, part_stride = 0
    type(c_ptr) :: index = c_null_ptr
    integer(c_int64_t) :: index_count = 0, index_base = 1
    integer(c_int32_t) :: number_type = 0, index_type = 0, parts = 0
  end type

  type, bind(C) :: c_output
    type(c_ptr) :: data = c_null_ptr
    integer(c_int64_t) :: items = 0, item_stride = 0, part_stride = 0
    type(c_ptr) :: index = c_null_ptr
    integer(c_int64_t) :: index_count = 0, index_base = 1
    integer(c_int32_t) :: number_type = 0, index_type = 0, parts = 0
  end type

  type, bind(C) :: c_table
    type(c_ptr) :: name = c_null_ptr
    integer(c_int64_t) :: rows = 0, total_rows = 0, columns = 0
  end type

  type, bind(C) :: c_view
    type(c_ptr) :: name = c_null_ptr, description = c_null_ptr, data = c_null_ptr
    integer(c_int64_t) :: rows = 0
    integer(c_int32_t) :: parts = 0, number_type = 0, length = 0, mass = 0, time = 0, scale_factor = 0
  end type

  !> An array that is read, with its name.
  type, public :: inselberg_column
    private
    character(name_length) :: name = ' '
    type(c_column) :: c
  end type

  !> An array that is written.
  type, public :: inselberg_output
    private
    type(c_output) :: c
  end type

  public :: inselberg_open, inselberg_open_serial, inselberg_free, inselberg_message, inselberg_set, inselberg_set_box
  public :: inselberg_values, inselberg_into, inselberg_set_octs, inselberg_set_leaves, inselberg_phew, inselberg_fof
  public :: inselberg_set_particles, inselberg_find
  public :: inselberg_recut, inselberg_labels, inselberg_rows, inselberg_pick_rows, inselberg_get, inselberg_write
  public :: inselberg_write_labels, inselberg_add_sums
  public :: inselberg_tree_add_found, inselberg_tree_add_file
  public :: inselberg_tree_begin, inselberg_tree_add, inselberg_tree_outputs, inselberg_tree_write, inselberg_tree_free
  public :: inselberg_progress, inselberg_warning, inselberg_on_progress, inselberg_on_warning, inselberg_text

  !> inselberg_set(engine, key, value, code): an option; the value is a text, a real, an integer or a logical.
  interface inselberg_set
    module procedure set_text, set_real, set_integer, set_logical
  end interface

  !> inselberg_values(name, array [, index] [, item_dimension]): a pointer or target that a later call reads.
  interface inselberg_values
    module procedure values_f32_1, values_f32_2, values_f64_1, values_f64_2, &
      values_i32_1, values_i32_2, values_i64_1, values_i64_2
  end interface

  !> The same for arguments of a call that is made before they are gone.
  interface column_of
    module procedure column_f32_1, column_f32_2, column_f64_1, column_f64_2, &
      column_i32_1, column_i32_2, column_i64_1, column_i64_2
  end interface

  !> inselberg_into(array [, index] [, item_dimension]): a pointer or target for labels, as in inselberg_values.
  interface inselberg_into
    module procedure into_i32_1, into_i32_2, into_i64_1, into_i64_2
  end interface

  !> inselberg_set_octs(engine, columns, code), or inselberg_set_octs(engine, level, position, split, code). Collective.
  interface inselberg_set_octs
    module procedure set_octs_columns, set_octs_arrays
  end interface

  !> inselberg_set_leaves(engine, columns, code), or inselberg_set_leaves(engine, level, position, code). Collective.
  interface inselberg_set_leaves
    module procedure set_leaves_columns, set_leaves_arrays
  end interface

  !> inselberg_phew(engine, columns, code), or inselberg_phew(engine, density, code [, mass_density] [, velocity_x, velocity_y,
  !> velocity_z] [, index] [, item_dimension]) with arrays of one kind. Collective.
  interface inselberg_phew
    module procedure phew_columns, phew_f32_1, phew_f64_1, phew_f32_2, phew_f64_2
  end interface

  !> inselberg_set_particles(engine, columns, code), or inselberg_set_particles(engine, position, code [, velocity] [, mass] [, id]
  !> [, type] [, index]): copies for inselberg_find and for members of clumps of cells. Collective.
  interface inselberg_set_particles
    module procedure set_particles_columns, set_particles_f32, set_particles_f64
  end interface

  !> inselberg_fof(engine, columns, code), or inselberg_fof(engine, position, code [, id] [, velocity] [, mass] [, attached]
  !> [, index]) with position(3, n) and velocity(3, n). Reals are of one kind. Collective.
  interface inselberg_fof
    module procedure fof_columns, fof_f32, fof_f64, fof_f32_i32, fof_f32_i64, fof_f64_i32, fof_f64_i64
  end interface

  !> inselberg_labels(engine, which, outputs, code), or with an array instead of outputs [, index] [, item_dimension].
  !> Collective for inselberg_peak_labels.
  interface inselberg_labels
    module procedure labels_outputs, labels_i32_1, labels_i64_1, labels_i32_2, labels_i64_2
  end interface

  !> Collective: adds an output, whose objects the program has found itself: inselberg_tree_add(tree, number, box, columns, code),
  !> or inselberg_tree_add(tree, number, box, id, n_members, member, code [, first_member] [, parent] [, mass] [, position]
  !> [, velocity] [, member_type]). inselberg.h has the columns. Integers are of one kind, types 32-bit. The first member of an
  !> object counts from 0 here as well.
  interface inselberg_tree_add
    module procedure tree_add_columns, tree_add_i32, tree_add_i64
  end interface

  !> inselberg_pick_rows(engine, table, id, code): from now until something else is found, inselberg_rows and inselberg_get show, on
  !> this rank, the rows with these 32-bit or 64-bit identifiers, in this order. Each rank picks what it needs. Collective.
  interface inselberg_pick_rows
    module procedure pick_rows_i32, pick_rows_i64
  end interface

  !> inselberg_add_sums(engine, which, columns, code), or inselberg_add_sums(engine, which, name, values, code [, index]
  !> [, item_dimension]): sums over the cells or particles of each label, as further columns of the table of these labels.
  !> which is inselberg_clump_labels, inselberg_halo_labels or inselberg_group_labels. Collective.
  interface inselberg_add_sums
    module procedure add_sums_columns, add_sums_f32_1, add_sums_f64_1, add_sums_f32_2, add_sums_f64_2
  end interface

  !> inselberg_get(engine, table, column, values, code): the values of this rank. `values` is a pointer to reals (:), vectors
  !> (3, :) or 64-bit integers (:), valid until the next call that finds something; null where there is no such column.
  interface inselberg_get
    module procedure get_reals, get_vectors, get_integers
  end interface

  !> Procedures of the caller. They must not use the engine. inselberg_text(stage) and inselberg_text(message) are texts.
  abstract interface
    !> Hears of the progress of calls: from any thread, but once at a time. Another result than 0 ends the call.
    integer(c_int32_t) function inselberg_progress(user, stage, done, work) bind(C)
      import
      type(c_ptr), value :: user, stage
      integer(c_int64_t), value :: done, work
    end function
    !> Hears one line about a result that is right but may surprise.
    subroutine inselberg_warning(user, message) bind(C)
      import
      type(c_ptr), value :: user, message
    end subroutine
  end interface

  interface
    integer(c_int32_t) function c_on_progress(handle, hear, user) bind(C, name="inselberg_on_progress")
      import
      type(c_ptr), value :: handle, user
      type(c_funptr), value :: hear
    end function
    integer(c_int32_t) function c_on_warning(handle, hear, user) bind(C, name="inselberg_on_warning")
      import
      type(c_ptr), value :: handle, user
      type(c_funptr), value :: hear
    end function
    integer(c_int32_t) function c_open(abi, comm, threads, handle) bind(C, name="inselberg_open_abi")
      import
      integer(c_int32_t), value :: abi, comm, threads
      type(c_ptr), intent(inout) :: handle
    end function
    integer(c_int32_t) function c_open_serial(abi, threads, handle) bind(C, name="inselberg_open_serial_abi")
      import
      integer(c_int32_t), value :: abi, threads
      type(c_ptr), intent(inout) :: handle
    end function
    integer(c_int32_t) function c_free(handle) bind(C, name="inselberg_free")
      import
      type(c_ptr), intent(inout) :: handle
    end function
    integer(c_size_t) function c_message(buffer, size) bind(C, name="inselberg_message")
      import
      character(kind=c_char), intent(out) :: buffer(*)
      integer(c_size_t), value :: size
    end function
    integer(c_int32_t) function c_set(handle, key, value) bind(C, name="inselberg_set")
      import
      type(c_ptr), value :: handle
      character(kind=c_char), intent(in) :: key(*), value(*)
    end function
    integer(c_int32_t) function c_set_box(handle, box) bind(C, name="inselberg_set_box")
      import
      type(c_ptr), value :: handle
      type(inselberg_box), intent(in) :: box
    end function
    integer(c_int32_t) function c_set_octs(handle, columns, n) bind(C, name="inselberg_set_octs")
      import
      type(c_ptr), value :: handle
      type(c_column), intent(in) :: columns(*)
      integer(c_int64_t), value :: n
    end function
    integer(c_int32_t) function c_set_leaves(handle, columns, n) bind(C, name="inselberg_set_leaves")
      import
      type(c_ptr), value :: handle
      type(c_column), intent(in) :: columns(*)
      integer(c_int64_t), value :: n
    end function
    integer(c_int32_t) function c_phew(handle, columns, n) bind(C, name="inselberg_phew")
      import
      type(c_ptr), value :: handle
      type(c_column), intent(in) :: columns(*)
      integer(c_int64_t), value :: n
    end function
    integer(c_int32_t) function c_fof(handle, columns, n) bind(C, name="inselberg_fof")
      import
      type(c_ptr), value :: handle
      type(c_column), intent(in) :: columns(*)
      integer(c_int64_t), value :: n
    end function
    integer(c_int32_t) function c_set_particles(handle, columns, n) bind(C, name="inselberg_set_particles")
      import
      type(c_ptr), value :: handle
      type(c_column), intent(in) :: columns(*)
      integer(c_int64_t), value :: n
    end function
    integer(c_int32_t) function c_find(handle, what) bind(C, name="inselberg_find")
      import
      type(c_ptr), value :: handle
      character(kind=c_char), intent(in) :: what(*)
    end function
    integer(c_int32_t) function c_recut(handle) bind(C, name="inselberg_recut")
      import
      type(c_ptr), value :: handle
    end function
    integer(c_int32_t) function c_labels(handle, which, outputs, n) bind(C, name="inselberg_labels")
      import
      type(c_ptr), value :: handle
      integer(c_int32_t), value :: which
      type(c_output), intent(in) :: outputs(*)
      integer(c_int64_t), value :: n
    end function
    integer(c_int32_t) function c_table_at(handle, i, table) bind(C, name="inselberg_table")
      import
      type(c_ptr), value :: handle
      integer(c_int64_t), value :: i
      type(c_table), intent(out) :: table
    end function
    integer(c_int32_t) function c_column_at(handle, table, i, view) bind(C, name="inselberg_table_column")
      import
      type(c_ptr), value :: handle
      character(kind=c_char), intent(in) :: table(*)
      integer(c_int64_t), value :: i
      type(c_view), intent(out) :: view
    end function
    integer(c_int32_t) function c_pick_rows(handle, table, columns, n) bind(C, name="inselberg_pick_rows")
      import
      type(c_ptr), value :: handle
      character(kind=c_char), intent(in) :: table(*)
      type(c_column), intent(in) :: columns(*)
      integer(c_int64_t), value :: n
    end function
    integer(c_int32_t) function c_add_sums(handle, which, columns, n) bind(C, name="inselberg_add_sums")
      import
      type(c_ptr), value :: handle
      integer(c_int32_t), value :: which
      type(c_column), intent(in) :: columns(*)
      integer(c_int64_t), value :: n
    end function
    integer(c_int32_t) function c_write(handle, path) bind(C, name="inselberg_write")
      import
      type(c_ptr), value :: handle
      character(kind=c_char), intent(in) :: path(*)
    end function
    integer(c_int32_t) function c_write_labels(handle, which, path) bind(C, name="inselberg_write_labels")
      import
      type(c_ptr), value :: handle
      integer(c_int32_t), value :: which
      character(kind=c_char), intent(in) :: path(*)
    end function
    integer(c_int32_t) function c_tree_begin(handle, tree) bind(C, name="inselberg_tree_begin")
      import
      type(c_ptr), value :: handle
      type(c_ptr), intent(inout) :: tree
    end function
    integer(c_int32_t) function c_tree_add(tree, number, box, columns, n) bind(C, name="inselberg_tree_add")
      import
      type(c_ptr), value :: tree
      integer(c_int64_t), value :: number, n
      type(inselberg_box), intent(in) :: box
      type(c_column), intent(in) :: columns(*)
    end function
    integer(c_int32_t) function c_tree_add_file(tree, path) bind(C, name="inselberg_tree_add_file")
      import
      type(c_ptr), value :: tree
      character(kind=c_char), intent(in) :: path(*)
    end function
    integer(c_int32_t) function c_tree_add_found(tree, handle, number) bind(C, name="inselberg_tree_add_found")
      import
      type(c_ptr), value :: tree, handle
      integer(c_int64_t), value :: number
    end function
    integer(c_int32_t) function c_tree_outputs(tree, n) bind(C, name="inselberg_tree_outputs")
      import
      type(c_ptr), value :: tree
      integer(c_int64_t), intent(out) :: n
    end function
    integer(c_int32_t) function c_tree_write(tree, path) bind(C, name="inselberg_tree_write")
      import
      type(c_ptr), value :: tree
      character(kind=c_char), intent(in) :: path(*)
    end function
    integer(c_int32_t) function c_tree_free(tree) bind(C, name="inselberg_tree_free")
      import
      type(c_ptr), intent(inout) :: tree
    end function
    integer(c_size_t) function c_strlen(text) bind(C, name="strlen")
      import
      type(c_ptr), value :: text
    end function
  end interface

contains

  !> Collective: a new handle. `comm` is an integer or a type(MPI_Comm). 0 threads: as inselberg_open in inselberg.h. An engine
  !> that is open already is refused: free it first.
  subroutine inselberg_open(engine, comm, threads, code)
    type(inselberg_engine), intent(inout) :: engine
    type(*), target, intent(in) :: comm
    integer, intent(in) :: threads
    integer(c_int32_t), intent(out) :: code
    integer(c_int32_t), pointer :: number
    call c_f_pointer(c_loc(comm), number)
    code = c_open(abi_version, number, int(threads, c_int32_t), engine%handle)
  end subroutine

  !> A new handle for this process alone. An engine that is open already is refused.
  subroutine inselberg_open_serial(engine, threads, code)
    type(inselberg_engine), intent(inout) :: engine
    integer, intent(in) :: threads
    integer(c_int32_t), intent(out) :: code
    code = c_open_serial(abi_version, int(threads, c_int32_t), engine%handle)
  end subroutine

  !> Collective: frees the handle. Before MPI_FINALIZE.
  subroutine inselberg_free(engine, code)
    type(inselberg_engine), intent(inout) :: engine
    integer(c_int32_t), intent(out) :: code
    code = c_free(engine%handle)
  end subroutine

  !> The message of the last call of this thread that failed.
  function inselberg_message() result(message)
    character(:), allocatable :: message
    character(kind=c_char) :: buffer(1000)
    integer :: i, n
    n = int(min(c_message(buffer, size(buffer, kind=c_size_t)), size(buffer, kind=c_size_t) - 1))
    allocate (character(n) :: message)
    do i = 1, n
      message(i:i) = buffer(i)
    end do
  end function

  !> Names the procedure that hears of progress; none without it.
  subroutine inselberg_on_progress(engine, hear, code)
    type(inselberg_engine), intent(in) :: engine
    procedure(inselberg_progress), optional :: hear
    integer(c_int32_t), intent(out) :: code
    type(c_funptr) :: address
    address = c_null_funptr
    if (present(hear)) address = c_funloc(hear)
    code = c_on_progress(engine%handle, address, c_null_ptr)
  end subroutine

  !> Names the procedure that hears warnings; none without it.
  subroutine inselberg_on_warning(engine, hear, code)
    type(inselberg_engine), intent(in) :: engine
    procedure(inselberg_warning), optional :: hear
    integer(c_int32_t), intent(out) :: code
    type(c_funptr) :: address
    address = c_null_funptr
    if (present(hear)) address = c_funloc(hear)
    code = c_on_warning(engine%handle, address, c_null_ptr)
  end subroutine

  !> A text of C.
  function inselberg_text(text) result(copy)
    type(c_ptr), intent(in) :: text
    character(:), allocatable :: copy
    character(kind=c_char), pointer :: characters(:)
    integer :: i
    call c_f_pointer(text, characters, [c_strlen(text)])
    allocate (character(size(characters)) :: copy)
    do i = 1, size(characters)
      copy(i:i) = characters(i)
    end do
  end function

  subroutine set_text(engine, key, value, code)
    type(inselberg_engine), intent(in) :: engine
    character(*), intent(in) :: key, value
    integer(c_int32_t), intent(out) :: code
    code = c_set(engine%handle, trim(key)//c_null_char, trim(value)//c_null_char)
  end subroutine

  subroutine set_real(engine, key, value, code)
    type(inselberg_engine), intent(in) :: engine
    character(*), intent(in) :: key
    real(c_double), intent(in) :: value
    integer(c_int32_t), intent(out) :: code
    character(40) :: text
    write (text, '(es30.17e3)') value
    call set_text(engine, key, adjustl(text), code)
  end subroutine

  subroutine set_integer(engine, key, value, code)
    type(inselberg_engine), intent(in) :: engine
    character(*), intent(in) :: key
    integer, intent(in) :: value
    integer(c_int32_t), intent(out) :: code
    character(20) :: text
    write (text, '(i0)') value
    call set_text(engine, key, text, code)
  end subroutine

  subroutine set_logical(engine, key, value, code)
    type(inselberg_engine), intent(in) :: engine
    character(*), intent(in) :: key
    logical, intent(in) :: value
    integer(c_int32_t), intent(out) :: code
    call set_text(engine, key, merge('true ', 'false', value), code)
  end subroutine

  !> The box of the next cells or particles.
  subroutine inselberg_set_box(engine, box, code)
    type(inselberg_engine), intent(in) :: engine
    type(inselberg_box), intent(in) :: box
    integer(c_int32_t), intent(out) :: code
    code = c_set_box(engine%handle, sized(box))
  end subroutine

  !> The box with its size, as C expects it.
  function sized(box)
    type(inselberg_box), intent(in) :: box
    type(inselberg_box) :: sized
    sized = box
    sized%size = c_sizeof(box)
  end function

  !> Bytes from one address to another.
  function distance(from, to) result(bytes)
    type(c_ptr), intent(in) :: from, to
    integer(c_int64_t) :: bytes
    bytes = int(transfer(to, 0_c_intptr_t) - transfer(from, 0_c_intptr_t), c_int64_t)
  end function

  !> A column with the strides between the first numbers of an array, whose dimensions are parts and items.
  function described(number_type, first, next_part, next_item, parts, items, index, item_dimension) result(c)
    integer(c_int32_t), intent(in) :: number_type
    type(c_ptr), intent(in) :: first, next_part, next_item
    integer, intent(in) :: parts, items
    integer(c_int32_t), target, contiguous, optional, intent(in) :: index(:)
    integer, optional, intent(in) :: item_dimension
    type(c_column) :: c
    integer(c_int64_t) :: strides(2)
    logical :: is_turned
    is_turned = .false.
    if (present(item_dimension)) is_turned = item_dimension == 1
    c%number_type = number_type
    c%items = merge(parts, items, is_turned)
    c%parts = merge(items, parts, is_turned)
    if (parts == 0 .or. items == 0) c%items = 0
    if (c%items > 0) c%data = first
    strides = 0
    if (c_associated(next_part)) strides(1) = distance(first, next_part)
    if (c_associated(next_item)) strides(2) = distance(first, next_item)
    if (is_turned) strides = strides(2:1:-1)
    c%part_stride = strides(1)
    c%item_stride = strides(2)
    if (.not. present(index)) return
    c%index_type = type_i32
    c%index_count = size(index, kind=c_int64_t)
    c%index = empty_list()
    if (size(index) > 0) c%index = c_loc(index(1))
  end function

  !> An address for lists without entries, which is not null: no item is read.
  function empty_list() result(address)
    type(c_ptr) :: address
    integer(c_int32_t), save, target :: nothing(1) = 1
    address = c_loc(nothing)
  end function

  function column_f32_1(name, array, index) result(column)
    character(*), intent(in) :: name
    real(c_float), target, intent(in) :: array(:)
    integer(c_int32_t), target, contiguous, optional, intent(in) :: index(:)
    type(inselberg_column) :: column
    type(c_ptr) :: first, next
    first = c_null_ptr
    next = c_null_ptr
    if (size(array) > 0) first = c_loc(array(1))
    if (size(array) > 1) next = c_loc(array(2))
    column%name = name
    column%c = described(type_f32, first, c_null_ptr, next, 1, size(array), index)
  end function

  function column_f32_2(name, array, index, item_dimension) result(column)
    character(*), intent(in) :: name
    real(c_float), target, intent(in) :: array(:, :)
    integer(c_int32_t), target, contiguous, optional, intent(in) :: index(:)
    integer, optional, intent(in) :: item_dimension
    type(inselberg_column) :: column
    type(c_ptr) :: first, next(2)
    first = c_null_ptr
    next = c_null_ptr
    if (size(array) > 0) first = c_loc(array(1, 1))
    if (size(array, 1) > 1 .and. size(array, 2) > 0) next(1) = c_loc(array(2, 1))
    if (size(array, 2) > 1 .and. size(array, 1) > 0) next(2) = c_loc(array(1, 2))
    column%name = name
    column%c = described(type_f32, first, next(1), next(2), size(array, 1), size(array, 2), index, item_dimension)
  end function

  function column_f64_1(name, array, index) result(column)
    character(*), intent(in) :: name
    real(c_double), target, intent(in) :: array(:)
    integer(c_int32_t), target, contiguous, optional, intent(in) :: index(:)
    type(inselberg_column) :: column
    type(c_ptr) :: first, next
    first = c_null_ptr
    next = c_null_ptr
    if (size(array) > 0) first = c_loc(array(1))
    if (size(array) > 1) next = c_loc(array(2))
    column%name = name
    column%c = described(type_f64, first, c_null_ptr, next, 1, size(array), index)
  end function

  function column_f64_2(name, array, index, item_dimension) result(column)
    character(*), intent(in) :: name
    real(c_double), target, intent(in) :: array(:, :)
    integer(c_int32_t), target, contiguous, optional, intent(in) :: index(:)
    integer, optional, intent(in) :: item_dimension
    type(inselberg_column) :: column
    type(c_ptr) :: first, next(2)
    first = c_null_ptr
    next = c_null_ptr
    if (size(array) > 0) first = c_loc(array(1, 1))
    if (size(array, 1) > 1 .and. size(array, 2) > 0) next(1) = c_loc(array(2, 1))
    if (size(array, 2) > 1 .and. size(array, 1) > 0) next(2) = c_loc(array(1, 2))
    column%name = name
    column%c = described(type_f64, first, next(1), next(2), size(array, 1), size(array, 2), index, item_dimension)
  end function

  function column_i32_1(name, array, index) result(column)
    character(*), intent(in) :: name
    integer(c_int32_t), target, intent(in) :: array(:)
    integer(c_int32_t), target, contiguous, optional, intent(in) :: index(:)
    type(inselberg_column) :: column
    type(c_ptr) :: first, next
    first = c_null_ptr
    next = c_null_ptr
    if (size(array) > 0) first = c_loc(array(1))
    if (size(array) > 1) next = c_loc(array(2))
    column%name = name
    column%c = described(type_i32, first, c_null_ptr, next, 1, size(array), index)
  end function

  function column_i32_2(name, array, index, item_dimension) result(column)
    character(*), intent(in) :: name
    integer(c_int32_t), target, intent(in) :: array(:, :)
    integer(c_int32_t), target, contiguous, optional, intent(in) :: index(:)
    integer, optional, intent(in) :: item_dimension
    type(inselberg_column) :: column
    type(c_ptr) :: first, next(2)
    first = c_null_ptr
    next = c_null_ptr
    if (size(array) > 0) first = c_loc(array(1, 1))
    if (size(array, 1) > 1 .and. size(array, 2) > 0) next(1) = c_loc(array(2, 1))
    if (size(array, 2) > 1 .and. size(array, 1) > 0) next(2) = c_loc(array(1, 2))
    column%name = name
    column%c = described(type_i32, first, next(1), next(2), size(array, 1), size(array, 2), index, item_dimension)
  end function

  function column_i64_1(name, array, index) result(column)
    character(*), intent(in) :: name
    integer(c_int64_t), target, intent(in) :: array(:)
    integer(c_int32_t), target, contiguous, optional, intent(in) :: index(:)
    type(inselberg_column) :: column
    type(c_ptr) :: first, next
    first = c_null_ptr
    next = c_null_ptr
    if (size(array) > 0) first = c_loc(array(1))
    if (size(array) > 1) next = c_loc(array(2))
    column%name = name
    column%c = described(type_i64, first, c_null_ptr, next, 1, size(array), index)
  end function

  function column_i64_2(name, array, index, item_dimension) result(column)
    character(*), intent(in) :: name
    integer(c_int64_t), target, intent(in) :: array(:, :)
    integer(c_int32_t), target, contiguous, optional, intent(in) :: index(:)
    integer, optional, intent(in) :: item_dimension
    type(inselberg_column) :: column
    type(c_ptr) :: first, next(2)
    first = c_null_ptr
    next = c_null_ptr
    if (size(array) > 0) first = c_loc(array(1, 1))
    if (size(array, 1) > 1 .and. size(array, 2) > 0) next(1) = c_loc(array(2, 1))
    if (size(array, 2) > 1 .and. size(array, 1) > 0) next(2) = c_loc(array(1, 2))
    column%name = name
    column%c = described(type_i64, first, next(1), next(2), size(array, 1), size(array, 2), index, item_dimension)
  end function

  function values_f32_1(name, array, index) result(column)
    character(*), intent(in) :: name
    real(c_float), pointer, intent(in) :: array(:)
    integer(c_int32_t), pointer, contiguous, optional, intent(in) :: index(:)
    type(inselberg_column) :: column
    column = column_of(name, array, index)
  end function

  function values_f32_2(name, array, index, item_dimension) result(column)
    character(*), intent(in) :: name
    real(c_float), pointer, intent(in) :: array(:, :)
    integer(c_int32_t), pointer, contiguous, optional, intent(in) :: index(:)
    integer, optional, intent(in) :: item_dimension
    type(inselberg_column) :: column
    column = column_of(name, array, index, item_dimension)
  end function

  function values_f64_1(name, array, index) result(column)
    character(*), intent(in) :: name
    real(c_double), pointer, intent(in) :: array(:)
    integer(c_int32_t), pointer, contiguous, optional, intent(in) :: index(:)
    type(inselberg_column) :: column
    column = column_of(name, array, index)
  end function

  function values_f64_2(name, array, index, item_dimension) result(column)
    character(*), intent(in) :: name
    real(c_double), pointer, intent(in) :: array(:, :)
    integer(c_int32_t), pointer, contiguous, optional, intent(in) :: index(:)
    integer, optional, intent(in) :: item_dimension
    type(inselberg_column) :: column
    column = column_of(name, array, index, item_dimension)
  end function

  function values_i32_1(name, array, index) result(column)
    character(*), intent(in) :: name
    integer(c_int32_t), pointer, intent(in) :: array(:)
    integer(c_int32_t), pointer, contiguous, optional, intent(in) :: index(:)
    type(inselberg_column) :: column
    column = column_of(name, array, index)
  end function

  function values_i32_2(name, array, index, item_dimension) result(column)
    character(*), intent(in) :: name
    integer(c_int32_t), pointer, intent(in) :: array(:, :)
    integer(c_int32_t), pointer, contiguous, optional, intent(in) :: index(:)
    integer, optional, intent(in) :: item_dimension
    type(inselberg_column) :: column
    column = column_of(name, array, index, item_dimension)
  end function

  function values_i64_1(name, array, index) result(column)
    character(*), intent(in) :: name
    integer(c_int64_t), pointer, intent(in) :: array(:)
    integer(c_int32_t), pointer, contiguous, optional, intent(in) :: index(:)
    type(inselberg_column) :: column
    column = column_of(name, array, index)
  end function

  function values_i64_2(name, array, index, item_dimension) result(column)
    character(*), intent(in) :: name
    integer(c_int64_t), pointer, intent(in) :: array(:, :)
    integer(c_int32_t), pointer, contiguous, optional, intent(in) :: index(:)
    integer, optional, intent(in) :: item_dimension
    type(inselberg_column) :: column
    column = column_of(name, array, index, item_dimension)
  end function

  !> The same place as an output.
  function as_output(column) result(output)
    type(inselberg_column), intent(in) :: column
    type(inselberg_output) :: output
    output%c%data = column%c%data
    output%c%items = column%c%items
    output%c%item_stride = column%c%item_stride
    output%c%part_stride = column%c%part_stride
    output%c%index = column%c%index
    output%c%index_count = column%c%index_count
    output%c%index_base = column%c%index_base
    output%c%number_type = column%c%number_type
    output%c%index_type = column%c%index_type
    output%c%parts = column%c%parts
  end function

  function into_i32_1(array, index) result(output)
    integer(c_int32_t), pointer, intent(in) :: array(:)
    integer(c_int32_t), pointer, contiguous, optional, intent(in) :: index(:)
    type(inselberg_output) :: output
    output = as_output(column_of('labels', array, index))
  end function

  function into_i32_2(array, index, item_dimension) result(output)
    integer(c_int32_t), pointer, intent(in) :: array(:, :)
    integer(c_int32_t), pointer, contiguous, optional, intent(in) :: index(:)
    integer, optional, intent(in) :: item_dimension
    type(inselberg_output) :: output
    output = as_output(column_of('labels', array, index, item_dimension))
  end function

  function into_i64_1(array, index) result(output)
    integer(c_int64_t), pointer, intent(in) :: array(:)
    integer(c_int32_t), pointer, contiguous, optional, intent(in) :: index(:)
    type(inselberg_output) :: output
    output = as_output(column_of('labels', array, index))
  end function

  function into_i64_2(array, index, item_dimension) result(output)
    integer(c_int64_t), pointer, intent(in) :: array(:, :)
    integer(c_int32_t), pointer, contiguous, optional, intent(in) :: index(:)
    integer, optional, intent(in) :: item_dimension
    type(inselberg_output) :: output
    output = as_output(column_of('labels', array, index, item_dimension))
  end function

  subroutine set_octs_columns(engine, columns, code)
    type(inselberg_engine), intent(in) :: engine
    type(inselberg_column), intent(in) :: columns(:)
    integer(c_int32_t), intent(out) :: code
    character(kind=c_char), target :: names(name_length + 1, size(columns))
    type(c_column) :: c(size(columns))
    call to_c(columns, names, c)
    code = c_set_octs(engine%handle, c, size(c, kind=c_int64_t))
  end subroutine

  subroutine set_leaves_columns(engine, columns, code)
    type(inselberg_engine), intent(in) :: engine
    type(inselberg_column), intent(in) :: columns(:)
    integer(c_int32_t), intent(out) :: code
    character(kind=c_char), target :: names(name_length + 1, size(columns))
    type(c_column) :: c(size(columns))
    call to_c(columns, names, c)
    code = c_set_leaves(engine%handle, c, size(c, kind=c_int64_t))
  end subroutine

  subroutine phew_columns(engine, columns, code)
    type(inselberg_engine), intent(in) :: engine
    type(inselberg_column), intent(in) :: columns(:)
    integer(c_int32_t), intent(out) :: code
    character(kind=c_char), target :: names(name_length + 1, size(columns))
    type(c_column) :: c(size(columns))
    call to_c(columns, names, c)
    code = c_phew(engine%handle, c, size(c, kind=c_int64_t))
  end subroutine

  subroutine fof_columns(engine, columns, code)
    type(inselberg_engine), intent(in) :: engine
    type(inselberg_column), intent(in) :: columns(:)
    integer(c_int32_t), intent(out) :: code
    character(kind=c_char), target :: names(name_length + 1, size(columns))
    type(c_column) :: c(size(columns))
    call to_c(columns, names, c)
    code = c_fof(engine%handle, c, size(c, kind=c_int64_t))
  end subroutine

  subroutine set_particles_columns(engine, columns, code)
    type(inselberg_engine), intent(in) :: engine
    type(inselberg_column), intent(in) :: columns(:)
    integer(c_int32_t), intent(out) :: code
    character(kind=c_char), target :: names(name_length + 1, size(columns))
    type(c_column) :: c(size(columns))
    call to_c(columns, names, c)
    code = c_set_particles(engine%handle, c, size(c, kind=c_int64_t))
  end subroutine

  !> Columns with names that end with a zero byte.
  subroutine to_c(columns, names, c)
    type(inselberg_column), intent(in) :: columns(:)
    character(kind=c_char), target, intent(out) :: names(:, :)
    type(c_column), intent(out) :: c(:)
    integer :: i, j
    names = c_null_char
    do i = 1, size(columns)
      do j = 1, len_trim(columns(i)%name)
        names(j, i) = columns(i)%name(j:j)
      end do
      c(i) = columns(i)%c
      c(i)%name = c_loc(names(1, i))
    end do
  end subroutine

  subroutine add(columns, n, column)
    type(inselberg_column), intent(inout) :: columns(:)
    integer, intent(inout) :: n
    type(inselberg_column), intent(in) :: column
    n = n + 1
    columns(n) = column
  end subroutine

  subroutine set_octs_arrays(engine, level, position, split, code)
    type(inselberg_engine), intent(in) :: engine
    integer(c_int32_t), target, intent(in) :: level(:), position(:, :), split(:)
    integer(c_int32_t), intent(out) :: code
    call set_octs_columns(engine, [column_of('level', level), column_of('position', position), column_of('split', split)], code)
  end subroutine

  subroutine set_leaves_arrays(engine, level, position, code)
    type(inselberg_engine), intent(in) :: engine
    integer(c_int32_t), target, intent(in) :: level(:), position(:, :)
    integer(c_int32_t), intent(out) :: code
    call set_leaves_columns(engine, [column_of('level', level), column_of('position', position)], code)
  end subroutine

  subroutine phew_f32_1(engine, density, code, mass_density, velocity_x, velocity_y, velocity_z, index)
    type(inselberg_engine), intent(in) :: engine
    real(c_float), target, intent(in) :: density(:)
    integer(c_int32_t), intent(out) :: code
    real(c_float), target, optional, intent(in), dimension(:) :: mass_density, velocity_x, velocity_y, velocity_z
    integer(c_int32_t), target, contiguous, optional, intent(in) :: index(:)
    type(inselberg_column) :: columns(5)
    integer :: n
    n = 0
    call add(columns, n, column_of('density', density, index))
    if (present(mass_density)) call add(columns, n, column_of('mass_density', mass_density, index))
    if (present(velocity_x)) call add(columns, n, column_of('velocity_x', velocity_x, index))
    if (present(velocity_y)) call add(columns, n, column_of('velocity_y', velocity_y, index))
    if (present(velocity_z)) call add(columns, n, column_of('velocity_z', velocity_z, index))
    call phew_columns(engine, columns(:n), code)
  end subroutine

  subroutine phew_f32_2(engine, density, code, mass_density, velocity_x, velocity_y, velocity_z, index, item_dimension)
    type(inselberg_engine), intent(in) :: engine
    real(c_float), target, intent(in) :: density(:, :)
    integer(c_int32_t), intent(out) :: code
    real(c_float), target, optional, intent(in), dimension(:, :) :: mass_density, velocity_x, velocity_y, velocity_z
    integer(c_int32_t), target, contiguous, optional, intent(in) :: index(:)
    integer, optional, intent(in) :: item_dimension
    type(inselberg_column) :: columns(5)
    integer :: n
    n = 0
    call add(columns, n, column_of('density', density, index, item_dimension))
    if (present(mass_density)) call add(columns, n, column_of('mass_density', mass_density, index, item_dimension))
    if (present(velocity_x)) call add(columns, n, column_of('velocity_x', velocity_x, index, item_dimension))
    if (present(velocity_y)) call add(columns, n, column_of('velocity_y', velocity_y, index, item_dimension))
    if (present(velocity_z)) call add(columns, n, column_of('velocity_z', velocity_z, index, item_dimension))
    call phew_columns(engine, columns(:n), code)
  end subroutine

  subroutine phew_f64_1(engine, density, code, mass_density, velocity_x, velocity_y, velocity_z, index)
    type(inselberg_engine), intent(in) :: engine
    real(c_double), target, intent(in) :: density(:)
    integer(c_int32_t), intent(out) :: code
    real(c_double), target, optional, intent(in), dimension(:) :: mass_density, velocity_x, velocity_y, velocity_z
    integer(c_int32_t), target, contiguous, optional, intent(in) :: index(:)
    type(inselberg_column) :: columns(5)
    integer :: n
    n = 0
    call add(columns, n, column_of('density', density, index))
    if (present(mass_density)) call add(columns, n, column_of('mass_density', mass_density, index))
    if (present(velocity_x)) call add(columns, n, column_of('velocity_x', velocity_x, index))
    if (present(velocity_y)) call add(columns, n, column_of('velocity_y', velocity_y, index))
    if (present(velocity_z)) call add(columns, n, column_of('velocity_z', velocity_z, index))
    call phew_columns(engine, columns(:n), code)
  end subroutine

  subroutine phew_f64_2(engine, density, code, mass_density, velocity_x, velocity_y, velocity_z, index, item_dimension)
    type(inselberg_engine), intent(in) :: engine
    real(c_double), target, intent(in) :: density(:, :)
    integer(c_int32_t), intent(out) :: code
    real(c_double), target, optional, intent(in), dimension(:, :) :: mass_density, velocity_x, velocity_y, velocity_z
    integer(c_int32_t), target, contiguous, optional, intent(in) :: index(:)
    integer, optional, intent(in) :: item_dimension
    type(inselberg_column) :: columns(5)
    integer :: n
    n = 0
    call add(columns, n, column_of('density', density, index, item_dimension))
    if (present(mass_density)) call add(columns, n, column_of('mass_density', mass_density, index, item_dimension))
    if (present(velocity_x)) call add(columns, n, column_of('velocity_x', velocity_x, index, item_dimension))
    if (present(velocity_y)) call add(columns, n, column_of('velocity_y', velocity_y, index, item_dimension))
    if (present(velocity_z)) call add(columns, n, column_of('velocity_z', velocity_z, index, item_dimension))
    call phew_columns(engine, columns(:n), code)
  end subroutine

  subroutine fof_f32(engine, position, code, velocity, mass, attached, index)
    type(inselberg_engine), intent(in) :: engine
    real(c_float), target, intent(in) :: position(:, :)
    integer(c_int32_t), intent(out) :: code
    real(c_float), target, optional, intent(in) :: velocity(:, :), mass(:)
    integer(c_int32_t), target, optional, intent(in) :: attached(:)
    integer(c_int32_t), target, contiguous, optional, intent(in) :: index(:)
    type(inselberg_column) :: columns(4)
    integer :: n
    call particles_f32(columns, n, position, velocity, mass, attached, index)
    call fof_columns(engine, columns(:n), code)
  end subroutine

  subroutine fof_f32_i32(engine, position, code, id, velocity, mass, attached, index)
    type(inselberg_engine), intent(in) :: engine
    real(c_float), target, intent(in) :: position(:, :)
    integer(c_int32_t), intent(out) :: code
    integer(c_int32_t), target, intent(in) :: id(:)
    real(c_float), target, optional, intent(in) :: velocity(:, :), mass(:)
    integer(c_int32_t), target, optional, intent(in) :: attached(:)
    integer(c_int32_t), target, contiguous, optional, intent(in) :: index(:)
    type(inselberg_column) :: columns(5)
    integer :: n
    call particles_f32(columns, n, position, velocity, mass, attached, index)
    call add(columns, n, column_of('id', id, index))
    call fof_columns(engine, columns(:n), code)
  end subroutine

  subroutine fof_f32_i64(engine, position, code, id, velocity, mass, attached, index)
    type(inselberg_engine), intent(in) :: engine
    real(c_float), target, intent(in) :: position(:, :)
    integer(c_int32_t), intent(out) :: code
    integer(c_int64_t), target, intent(in) :: id(:)
    real(c_float), target, optional, intent(in) :: velocity(:, :), mass(:)
    integer(c_int32_t), target, optional, intent(in) :: attached(:)
    integer(c_int32_t), target, contiguous, optional, intent(in) :: index(:)
    type(inselberg_column) :: columns(5)
    integer :: n
    call particles_f32(columns, n, position, velocity, mass, attached, index)
    call add(columns, n, column_of('id', id, index))
    call fof_columns(engine, columns(:n), code)
  end subroutine

  subroutine particles_f32(columns, n, position, velocity, mass, attached, index)
    type(inselberg_column), intent(inout) :: columns(:)
    integer, intent(out) :: n
    real(c_float), target, intent(in) :: position(:, :)
    real(c_float), target, optional, intent(in) :: velocity(:, :), mass(:)
    integer(c_int32_t), target, optional, intent(in) :: attached(:)
    integer(c_int32_t), target, contiguous, optional, intent(in) :: index(:)
    n = 0
    call add(columns, n, column_of('position', position, index))
    if (present(velocity)) call add(columns, n, column_of('velocity', velocity, index))
    if (present(mass)) call add(columns, n, column_of('mass', mass, index))
    if (present(attached)) call add(columns, n, column_of('attached', attached, index))
  end subroutine

  subroutine set_particles_f32(engine, position, code, velocity, mass, id, type, index)
    type(inselberg_engine), intent(in) :: engine
    real(c_float), target, intent(in) :: position(:, :)
    integer(c_int32_t), intent(out) :: code
    real(c_float), target, optional, intent(in) :: velocity(:, :), mass(:)
    integer(c_int64_t), target, optional, intent(in) :: id(:)
    integer(c_int32_t), target, optional, intent(in) :: type(:)
    integer(c_int32_t), target, contiguous, optional, intent(in) :: index(:)
    type(inselberg_column) :: columns(5)
    integer :: n
    call particles_f32(columns, n, position, velocity, mass, index=index)
    if (present(id)) call add(columns, n, column_of('id', id, index))
    if (present(type)) call add(columns, n, column_of('type', type, index))
    call set_particles_columns(engine, columns(:n), code)
  end subroutine

  subroutine set_particles_f64(engine, position, code, velocity, mass, id, type, index)
    type(inselberg_engine), intent(in) :: engine
    real(c_double), target, intent(in) :: position(:, :)
    integer(c_int32_t), intent(out) :: code
    real(c_double), target, optional, intent(in) :: velocity(:, :), mass(:)
    integer(c_int64_t), target, optional, intent(in) :: id(:)
    integer(c_int32_t), target, optional, intent(in) :: type(:)
    integer(c_int32_t), target, contiguous, optional, intent(in) :: index(:)
    type(inselberg_column) :: columns(5)
    integer :: n
    call particles_f64(columns, n, position, velocity, mass, index=index)
    if (present(id)) call add(columns, n, column_of('id', id, index))
    if (present(type)) call add(columns, n, column_of('type', type, index))
    call set_particles_columns(engine, columns(:n), code)
  end subroutine

  subroutine fof_f64(engine, position, code, velocity, mass, attached, index)
    type(inselberg_engine), intent(in) :: engine
    real(c_double), target, intent(in) :: position(:, :)
    integer(c_int32_t), intent(out) :: code
    real(c_double), target, optional, intent(in) :: velocity(:, :), mass(:)
    integer(c_int32_t), target, optional, intent(in) :: attached(:)
    integer(c_int32_t), target, contiguous, optional, intent(in) :: index(:)
    type(inselberg_column) :: columns(4)
    integer :: n
    call particles_f64(columns, n, position, velocity, mass, attached, index)
    call fof_columns(engine, columns(:n), code)
  end subroutine

  subroutine fof_f64_i32(engine, position, code, id, velocity, mass, attached, index)
    type(inselberg_engine), intent(in) :: engine
    real(c_double), target, intent(in) :: position(:, :)
    integer(c_int32_t), intent(out) :: code
    integer(c_int32_t), target, intent(in) :: id(:)
    real(c_double), target, optional, intent(in) :: velocity(:, :), mass(:)
    integer(c_int32_t), target, optional, intent(in) :: attached(:)
    integer(c_int32_t), target, contiguous, optional, intent(in) :: index(:)
    type(inselberg_column) :: columns(5)
    integer :: n
    call particles_f64(columns, n, position, velocity, mass, attached, index)
    call add(columns, n, column_of('id', id, index))
    call fof_columns(engine, columns(:n), code)
  end subroutine

  subroutine fof_f64_i64(engine, position, code, id, velocity, mass, attached, index)
    type(inselberg_engine), intent(in) :: engine
    real(c_double), target, intent(in) :: position(:, :)
    integer(c_int32_t), intent(out) :: code
    integer(c_int64_t), target, intent(in) :: id(:)
    real(c_double), target, optional, intent(in) :: velocity(:, :), mass(:)
    integer(c_int32_t), target, optional, intent(in) :: attached(:)
    integer(c_int32_t), target, contiguous, optional, intent(in) :: index(:)
    type(inselberg_column) :: columns(5)
    integer :: n
    call particles_f64(columns, n, position, velocity, mass, attached, index)
    call add(columns, n, column_of('id', id, index))
    call fof_columns(engine, columns(:n), code)
  end subroutine

  subroutine particles_f64(columns, n, position, velocity, mass, attached, index)
    type(inselberg_column), intent(inout) :: columns(:)
    integer, intent(out) :: n
    real(c_double), target, intent(in) :: position(:, :)
    real(c_double), target, optional, intent(in) :: velocity(:, :), mass(:)
    integer(c_int32_t), target, optional, intent(in) :: attached(:)
    integer(c_int32_t), target, contiguous, optional, intent(in) :: index(:)
    n = 0
    call add(columns, n, column_of('position', position, index))
    if (present(velocity)) call add(columns, n, column_of('velocity', velocity, index))
    if (present(mass)) call add(columns, n, column_of('mass', mass, index))
    if (present(attached)) call add(columns, n, column_of('attached', attached, index))
  end subroutine

  !> Collective: groups, mesh, graph or voids of the particles that were set; see inselberg_find in inselberg.h.
  subroutine inselberg_find(engine, what, code)
    type(inselberg_engine), intent(in) :: engine
    character(*), intent(in) :: what
    integer(c_int32_t), intent(out) :: code
    code = c_find(engine%handle, trim(what)//c_null_char)
  end subroutine

  !> Collective: the clumps of the last PHEW under the options that are set now.
  subroutine inselberg_recut(engine, code)
    type(inselberg_engine), intent(in) :: engine
    integer(c_int32_t), intent(out) :: code
    code = c_recut(engine%handle)
  end subroutine

  subroutine labels_outputs(engine, which, outputs, code)
    type(inselberg_engine), intent(in) :: engine
    integer(c_int32_t), intent(in) :: which
    type(inselberg_output), intent(in) :: outputs(:)
    integer(c_int32_t), intent(out) :: code
    type(c_output) :: c(size(outputs))
    c = outputs%c
    code = c_labels(engine%handle, which, c, size(c, kind=c_int64_t))
  end subroutine

  subroutine labels_i32_1(engine, which, labels, code, index)
    type(inselberg_engine), intent(in) :: engine
    integer(c_int32_t), intent(in) :: which
    integer(c_int32_t), target, intent(inout) :: labels(:)
    integer(c_int32_t), intent(out) :: code
    integer(c_int32_t), target, contiguous, optional, intent(in) :: index(:)
    call labels_outputs(engine, which, [as_output(column_of('labels', labels, index))], code)
  end subroutine

  subroutine labels_i32_2(engine, which, labels, code, index, item_dimension)
    type(inselberg_engine), intent(in) :: engine
    integer(c_int32_t), intent(in) :: which
    integer(c_int32_t), target, intent(inout) :: labels(:, :)
    integer(c_int32_t), intent(out) :: code
    integer(c_int32_t), target, contiguous, optional, intent(in) :: index(:)
    integer, optional, intent(in) :: item_dimension
    call labels_outputs(engine, which, [as_output(column_of('labels', labels, index, item_dimension))], code)
  end subroutine

  subroutine labels_i64_1(engine, which, labels, code, index)
    type(inselberg_engine), intent(in) :: engine
    integer(c_int32_t), intent(in) :: which
    integer(c_int64_t), target, intent(inout) :: labels(:)
    integer(c_int32_t), intent(out) :: code
    integer(c_int32_t), target, contiguous, optional, intent(in) :: index(:)
    call labels_outputs(engine, which, [as_output(column_of('labels', labels, index))], code)
  end subroutine

  subroutine labels_i64_2(engine, which, labels, code, index, item_dimension)
    type(inselberg_engine), intent(in) :: engine
    integer(c_int32_t), intent(in) :: which
    integer(c_int64_t), target, intent(inout) :: labels(:, :)
    integer(c_int32_t), intent(out) :: code
    integer(c_int32_t), target, contiguous, optional, intent(in) :: index(:)
    integer, optional, intent(in) :: item_dimension
    call labels_outputs(engine, which, [as_output(column_of('labels', labels, index, item_dimension))], code)
  end subroutine

  subroutine pick_rows(engine, table, id, code)
    type(inselberg_engine), intent(in) :: engine
    character(*), intent(in) :: table
    type(inselberg_column), intent(in) :: id
    integer(c_int32_t), intent(out) :: code
    character(kind=c_char), target :: names(name_length + 1, 1)
    type(c_column) :: c(1)
    call to_c([id], names, c)
    code = c_pick_rows(engine%handle, trim(table)//c_null_char, c, 1_c_int64_t)
  end subroutine

  subroutine pick_rows_i32(engine, table, id, code)
    type(inselberg_engine), intent(in) :: engine
    character(*), intent(in) :: table
    integer(c_int32_t), target, intent(in) :: id(:)
    integer(c_int32_t), intent(out) :: code
    call pick_rows(engine, table, column_of('id', id), code)
  end subroutine

  subroutine pick_rows_i64(engine, table, id, code)
    type(inselberg_engine), intent(in) :: engine
    character(*), intent(in) :: table
    integer(c_int64_t), target, intent(in) :: id(:)
    integer(c_int32_t), intent(out) :: code
    call pick_rows(engine, table, column_of('id', id), code)
  end subroutine

  subroutine add_sums_columns(engine, which, columns, code)
    type(inselberg_engine), intent(in) :: engine
    integer(c_int32_t), intent(in) :: which
    type(inselberg_column), intent(in) :: columns(:)
    integer(c_int32_t), intent(out) :: code
    character(kind=c_char), target :: names(name_length + 1, size(columns))
    type(c_column) :: c(size(columns))
    call to_c(columns, names, c)
    code = c_add_sums(engine%handle, which, c, size(c, kind=c_int64_t))
  end subroutine

  subroutine add_sums_f32_1(engine, which, name, values, code, index)
    type(inselberg_engine), intent(in) :: engine
    integer(c_int32_t), intent(in) :: which
    character(*), intent(in) :: name
    real(c_float), target, intent(in) :: values(:)
    integer(c_int32_t), intent(out) :: code
    integer(c_int32_t), target, contiguous, optional, intent(in) :: index(:)
    call add_sums_columns(engine, which, [column_of(name, values, index)], code)
  end subroutine

  subroutine add_sums_f32_2(engine, which, name, values, code, index, item_dimension)
    type(inselberg_engine), intent(in) :: engine
    integer(c_int32_t), intent(in) :: which
    character(*), intent(in) :: name
    real(c_float), target, intent(in) :: values(:, :)
    integer(c_int32_t), intent(out) :: code
    integer(c_int32_t), target, contiguous, optional, intent(in) :: index(:)
    integer, optional, intent(in) :: item_dimension
    call add_sums_columns(engine, which, [column_of(name, values, index, item_dimension)], code)
  end subroutine

  subroutine add_sums_f64_1(engine, which, name, values, code, index)
    type(inselberg_engine), intent(in) :: engine
    integer(c_int32_t), intent(in) :: which
    character(*), intent(in) :: name
    real(c_double), target, intent(in) :: values(:)
    integer(c_int32_t), intent(out) :: code
    integer(c_int32_t), target, contiguous, optional, intent(in) :: index(:)
    call add_sums_columns(engine, which, [column_of(name, values, index)], code)
  end subroutine

  subroutine add_sums_f64_2(engine, which, name, values, code, index, item_dimension)
    type(inselberg_engine), intent(in) :: engine
    integer(c_int32_t), intent(in) :: which
    character(*), intent(in) :: name
    real(c_double), target, intent(in) :: values(:, :)
    integer(c_int32_t), intent(out) :: code
    integer(c_int32_t), target, contiguous, optional, intent(in) :: index(:)
    integer, optional, intent(in) :: item_dimension
    call add_sums_columns(engine, which, [column_of(name, values, index, item_dimension)], code)
  end subroutine

  !> Rows of a table of the last result, on this rank and on all. 0 where there is no such table.
  subroutine inselberg_rows(engine, table, here, total, code)
    type(inselberg_engine), intent(in) :: engine
    character(*), intent(in) :: table
    integer(c_int64_t), intent(out) :: here, total
    integer(c_int32_t), intent(out) :: code
    type(c_table) :: found
    integer(c_int64_t) :: i
    here = 0
    total = 0
    i = 0
    do
      code = c_table_at(engine%handle, i, found)
      if (code /= inselberg_done .or. .not. c_associated(found%name)) return
      if (inselberg_text(found%name) == trim(table)) exit
      i = i + 1
    end do
    here = found%rows
    total = found%total_rows
  end subroutine

  !> The column of these names; without rows or name where there is none.
  subroutine find(engine, table, column, view, code)
    type(inselberg_engine), intent(in) :: engine
    character(*), intent(in) :: table, column
    type(c_view), intent(out) :: view
    integer(c_int32_t), intent(out) :: code
    integer(c_int64_t) :: i
    i = 0
    do
      code = c_column_at(engine%handle, trim(table)//c_null_char, i, view)
      if (code /= inselberg_done .or. .not. c_associated(view%name)) return
      if (inselberg_text(view%name) == trim(column)) return
      i = i + 1
    end do
  end subroutine

  subroutine get_reals(engine, table, column, values, code)
    type(inselberg_engine), intent(in) :: engine
    character(*), intent(in) :: table, column
    real(c_double), pointer, intent(out) :: values(:)
    integer(c_int32_t), intent(out) :: code
    type(c_view) :: view
    nullify (values)
    call find(engine, table, column, view, code)
    if (view%number_type == type_f64 .and. view%parts == 1) call c_f_pointer(view%data, values, [view%rows])
  end subroutine

  subroutine get_vectors(engine, table, column, values, code)
    type(inselberg_engine), intent(in) :: engine
    character(*), intent(in) :: table, column
    real(c_double), pointer, intent(out) :: values(:, :)
    integer(c_int32_t), intent(out) :: code
    type(c_view) :: view
    nullify (values)
    call find(engine, table, column, view, code)
    if (view%number_type == type_f64 .and. view%parts == 3) call c_f_pointer(view%data, values, [3_c_int64_t, view%rows])
  end subroutine

  subroutine get_integers(engine, table, column, values, code)
    type(inselberg_engine), intent(in) :: engine
    character(*), intent(in) :: table, column
    integer(c_int64_t), pointer, intent(out) :: values(:)
    integer(c_int32_t), intent(out) :: code
    type(c_view) :: view
    nullify (values)
    call find(engine, table, column, view, code)
    if (any(view%number_type == [type_i64, type_u64])) call c_f_pointer(view%data, values, [view%rows])
  end subroutine

  !> Collective: writes the catalogue of the last result. The ending of the path chooses the format.
  subroutine inselberg_write(engine, path, code)
    type(inselberg_engine), intent(in) :: engine
    character(*), intent(in) :: path
    integer(c_int32_t), intent(out) :: code
    code = c_write(engine%handle, trim(path)//c_null_char)
  end subroutine

  !> Collective: writes the labels of the last clumps (inselberg_clump_labels or inselberg_halo_labels), as an image (.fits) or
  !> as ellipses (.reg, .crtf).
  subroutine inselberg_write_labels(engine, which, path, code)
    type(inselberg_engine), intent(in) :: engine
    integer(c_int32_t), intent(in) :: which
    character(*), intent(in) :: path
    integer(c_int32_t), intent(out) :: code
    code = c_write_labels(engine%handle, which, trim(path)//c_null_char)
  end subroutine

  !> Collective: adds a catalogue with a table of members, from a file, to a tree: outputs before a restart.
  subroutine inselberg_tree_add_file(tree, path, code)
    type(inselberg_tree), intent(in) :: tree
    character(*), intent(in) :: path
    integer(c_int32_t), intent(out) :: code
    code = c_tree_add_file(tree%handle, trim(path)//c_null_char)
  end subroutine

  !> Collective: adds the last result of an engine, with its table of members, to a tree.
  subroutine inselberg_tree_add_found(tree, engine, number, code)
    type(inselberg_tree), intent(in) :: tree
    type(inselberg_engine), intent(in) :: engine
    integer, intent(in) :: number
    integer(c_int32_t), intent(out) :: code
    code = c_tree_add_found(tree%handle, engine%handle, int(number, c_int64_t))
  end subroutine

  !> Collective: an empty merger tree, by the options gap, tracers and orphans that are set now.
  subroutine inselberg_tree_begin(engine, tree, code)
    type(inselberg_engine), intent(in) :: engine
    type(inselberg_tree), intent(inout) :: tree
    integer(c_int32_t), intent(out) :: code
    code = c_tree_begin(engine%handle, tree%handle)
  end subroutine

  subroutine tree_add_columns(tree, number, box, columns, code)
    type(inselberg_tree), intent(in) :: tree
    integer, intent(in) :: number
    type(inselberg_box), intent(in) :: box
    type(inselberg_column), intent(in) :: columns(:)
    integer(c_int32_t), intent(out) :: code
    character(kind=c_char), target :: names(name_length + 1, size(columns))
    type(c_column) :: c(size(columns))
    call to_c(columns, names, c)
    code = c_tree_add(tree%handle, int(number, c_int64_t), sized(box), c, size(c, kind=c_int64_t))
  end subroutine

  subroutine tree_add_i32(tree, number, box, id, n_members, member, code, first_member, parent, mass, position, velocity, &
    member_type)
    type(inselberg_tree), intent(in) :: tree
    integer, intent(in) :: number
    type(inselberg_box), intent(in) :: box
    integer(c_int32_t), target, intent(in) :: id(:), n_members(:), member(:)
    integer(c_int32_t), intent(out) :: code
    integer(c_int32_t), target, optional, intent(in) :: first_member(:), parent(:)
    real(c_double), target, optional, intent(in) :: mass(:), position(:, :), velocity(:, :)
    integer(c_int32_t), target, optional, intent(in) :: member_type(:)
    type(inselberg_column) :: columns(9)
    integer :: n
    n = 3
    columns(:n) = [column_of('id', id), column_of('n_members', n_members), column_of('member', member)]
    if (present(first_member)) call add(columns, n, column_of('first_member', first_member))
    if (present(parent)) call add(columns, n, column_of('parent', parent))
    if (present(mass)) call add(columns, n, column_of('mass', mass))
    if (present(position)) call add(columns, n, column_of('position', position))
    if (present(velocity)) call add(columns, n, column_of('velocity', velocity))
    if (present(member_type)) call add(columns, n, column_of('member_type', member_type))
    call tree_add_columns(tree, number, box, columns(:n), code)
  end subroutine

  subroutine tree_add_i64(tree, number, box, id, n_members, member, code, first_member, parent, mass, position, velocity, &
    member_type)
    type(inselberg_tree), intent(in) :: tree
    integer, intent(in) :: number
    type(inselberg_box), intent(in) :: box
    integer(c_int64_t), target, intent(in) :: id(:), n_members(:), member(:)
    integer(c_int32_t), intent(out) :: code
    integer(c_int64_t), target, optional, intent(in) :: first_member(:), parent(:)
    real(c_double), target, optional, intent(in) :: mass(:), position(:, :), velocity(:, :)
    integer(c_int32_t), target, optional, intent(in) :: member_type(:)
    type(inselberg_column) :: columns(9)
    integer :: n
    n = 3
    columns(:n) = [column_of('id', id), column_of('n_members', n_members), column_of('member', member)]
    if (present(first_member)) call add(columns, n, column_of('first_member', first_member))
    if (present(parent)) call add(columns, n, column_of('parent', parent))
    if (present(mass)) call add(columns, n, column_of('mass', mass))
    if (present(position)) call add(columns, n, column_of('position', position))
    if (present(velocity)) call add(columns, n, column_of('velocity', velocity))
    if (present(member_type)) call add(columns, n, column_of('member_type', member_type))
    call tree_add_columns(tree, number, box, columns(:n), code)
  end subroutine

  !> The number of outputs so far.
  subroutine inselberg_tree_outputs(tree, n, code)
    type(inselberg_tree), intent(in) :: tree
    integer(c_int64_t), intent(out) :: n
    integer(c_int32_t), intent(out) :: code
    n = 0
    code = c_tree_outputs(tree%handle, n)
  end subroutine

  !> Collective: writes the tree so far. The ending of the path chooses the format. More outputs may follow.
  subroutine inselberg_tree_write(tree, path, code)
    type(inselberg_tree), intent(in) :: tree
    character(*), intent(in) :: path
    integer(c_int32_t), intent(out) :: code
    code = c_tree_write(tree%handle, trim(path)//c_null_char)
  end subroutine

  !> Frees the tree.
  subroutine inselberg_tree_free(tree, code)
    type(inselberg_tree), intent(inout) :: tree
    integer(c_int32_t), intent(out) :: code
    code = c_tree_free(tree%handle)
  end subroutine

end module
