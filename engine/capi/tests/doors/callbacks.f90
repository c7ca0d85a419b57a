! Procedures of a Fortran program that the library calls: warnings, progress, and the end of a call.
module callbacks
  use, intrinsic :: iso_c_binding
  use inselberg
  implicit none
  integer :: n_warnings = 0, n_stages = 0
  logical :: must_stop = .false.
contains

  subroutine warn(user, message) bind(C)
    type(c_ptr), value :: user, message
    if (c_associated(user)) error stop 'an address that nobody gave'
    n_warnings = n_warnings + 1
    print '(2a)', 'warning: ', inselberg_text(message)
  end subroutine

  integer(c_int32_t) function progress(user, stage, done, work) bind(C)
    type(c_ptr), value :: user, stage
    integer(c_int64_t), value :: done, work
    if (c_associated(user) .or. done > work) error stop 'what nobody gave'
    if (inselberg_text(stage) == 'saddles') n_stages = n_stages + 1
    progress = merge(1, 0, must_stop)
  end function

end module

program host
  use callbacks
  implicit none
  type(inselberg_engine) :: engine
  type(inselberg_box) :: box
  integer(c_int32_t) :: code
  integer :: level(2) = 3, position(3, 2) = reshape([1, 1, 1, 2, 1, 1], [3, 2])
  real(c_double) :: rho(2) = [3, 4]

  call inselberg_open_serial(engine, 1, code)
  call inselberg_on_warning(engine, warn, code)
  call inselberg_on_progress(engine, progress, code)
  call inselberg_set_box(engine, box, code)
  call inselberg_set(engine, 'density_threshold', 1, code)
  call inselberg_set_leaves(engine, level, position, code)
  call inselberg_phew(engine, rho, code)
  if (code /= inselberg_done .or. n_warnings /= 1 .or. n_stages == 0) error stop 'no warning of gaps, or no progress'
  must_stop = .true.
  call inselberg_phew(engine, rho, code)
  if (code /= inselberg_cancelled) error stop 'a call that goes on'
  call inselberg_on_progress(engine, code=code)
  call inselberg_on_warning(engine, code=code)
  call inselberg_phew(engine, rho, code)
  if (code /= inselberg_done .or. n_warnings /= 1) error stop 'a procedure that is no longer named'
  rho(2) = -1
  call inselberg_phew(engine, rho, code)
  if (code /= inselberg_invalid_value .or. index(inselberg_message(), 'density of cell 2, ') /= 1) &
    error stop 'a message with another index'
  call inselberg_open_serial(engine, 1, code)
  if (code /= inselberg_invalid_argument .or. index(inselberg_message(), 'open already') == 0) error stop 'a lost engine'
  call inselberg_free(engine, code)
  if (code /= inselberg_done) error stop 'an engine that is not freed'
end program
