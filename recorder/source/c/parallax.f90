! Name regions of a Fortran program for Parallax:
!
!   use parallax
!   call parallax_begin("solve")
!   call solve()
!   call parallax_end()
!   call parallax_begin_as("halo", "communication")
!
! Without a recorder in the process all of them do nothing, and nothing needs to be linked but -ldl of an old C library.
module parallax
  use, intrinsic :: iso_c_binding, only: c_char, c_f_procpointer, c_funptr, c_null_char, c_null_ptr, c_ptr
  implicit none
  private
  public :: parallax_begin, parallax_begin_as, parallax_wait, parallax_end

  abstract interface
    subroutine one(name) bind(c)
      import :: c_char
      character(kind=c_char), intent(in) :: name(*)
    end subroutine
    subroutine two(name, role) bind(c)
      import :: c_char
      character(kind=c_char), intent(in) :: name(*), role(*)
    end subroutine
    subroutine none() bind(c)
    end subroutine
  end interface

  interface
    function dlsym(library, name) bind(c, name="dlsym")
      import :: c_char, c_funptr, c_ptr
      type(c_ptr), value :: library
      character(kind=c_char), intent(in) :: name(*)
      type(c_funptr) :: dlsym
    end function
  end interface

  procedure(one), pointer, save :: region_begin => null(), wait_begin => null()
  procedure(two), pointer, save :: region_begin_as => null()
  procedure(none), pointer, save :: region_end => null()
  logical, volatile, save :: found = .false.

contains

  ! The recorder that is in the process: where there is none the pointers stay empty.
  subroutine find()
    call c_f_procpointer(address("parallax_region_begin"), region_begin)
    call c_f_procpointer(address("parallax_region_begin_as"), region_begin_as)
    call c_f_procpointer(address("parallax_wait_begin"), wait_begin)
    call c_f_procpointer(address("parallax_region_end"), region_end)
    found = .true.
  end subroutine

  function address(name)
    character(len=*), intent(in) :: name
    type(c_funptr) :: address
    address = dlsym(c_null_ptr, name//c_null_char)
  end function

  subroutine parallax_begin(name)
    character(len=*), intent(in) :: name
    if (.not. found) call find()
    if (associated(region_begin)) call region_begin(trim(name)//c_null_char)
  end subroutine

  ! A region with a role: compute, io and copy are busy; communication, synchronization, idle and overhead are not.
  subroutine parallax_begin_as(name, role)
    character(len=*), intent(in) :: name, role
    if (.not. found) call find()
    if (associated(region_begin_as)) call region_begin_as(trim(name)//c_null_char, trim(role)//c_null_char)
  end subroutine

  ! A region in which the thread waits for others: it is not busy there.
  subroutine parallax_wait(name)
    character(len=*), intent(in) :: name
    if (.not. found) call find()
    if (associated(wait_begin)) call wait_begin(trim(name)//c_null_char)
  end subroutine

  subroutine parallax_end()
    if (.not. found) call find()
    if (associated(region_end)) call region_end()
  end subroutine

end module parallax
