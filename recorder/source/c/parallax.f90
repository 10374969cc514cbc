! Name regions of a Fortran program for Parallax:
!
!   use parallax
!   call parallax_begin("solve")
!   call solve()
!   call parallax_end()
!   call parallax_begin_as("halo", "communication")
!
! Link it with the recorder (-L. -lparallax): its names are found there.
module parallax
  use, intrinsic :: iso_c_binding, only: c_char, c_null_char
  implicit none
  private
  public :: parallax_begin, parallax_begin_as, parallax_wait, parallax_end

  interface
    subroutine region_begin(name) bind(c, name="parallax_region_begin")
      import :: c_char
      character(kind=c_char), intent(in) :: name(*)
    end subroutine
    subroutine region_begin_as(name, role) bind(c, name="parallax_region_begin_as")
      import :: c_char
      character(kind=c_char), intent(in) :: name(*), role(*)
    end subroutine
    subroutine wait_begin(name) bind(c, name="parallax_wait_begin")
      import :: c_char
      character(kind=c_char), intent(in) :: name(*)
    end subroutine
    subroutine parallax_end() bind(c, name="parallax_region_end")
    end subroutine
  end interface

contains

  subroutine parallax_begin(name)
    character(len=*), intent(in) :: name
    call region_begin(trim(name)//c_null_char)
  end subroutine

  ! A region with a role: compute, io and copy are busy; communication, synchronization, idle and overhead are not.
  subroutine parallax_begin_as(name, role)
    character(len=*), intent(in) :: name, role
    call region_begin_as(trim(name)//c_null_char, trim(role)//c_null_char)
  end subroutine

  ! A region in which the thread waits for others: it is not busy there.
  subroutine parallax_wait(name)
    character(len=*), intent(in) :: name
    call wait_begin(trim(name)//c_null_char)
  end subroutine

end module parallax
