! The same in Fortran.
program roles
  use parallax
  implicit none
  integer :: i
  do i = 1, 5
    call parallax_begin_as("halo", "communication")
    call spin()
    call parallax_end()
    call parallax_begin_as("wait", "compute")
    call spin()
    call parallax_end()
  end do
contains
  subroutine spin()
    real, volatile :: x
    integer :: k
    x = 0
    do k = 1, 2000000
      x = x + real(k)
    end do
  end subroutine
end program
