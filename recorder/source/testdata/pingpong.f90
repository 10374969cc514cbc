! Ten messages each way between ranks 0 and 1, a reduction and a barrier each time; the way
! MPI is used (include, module, module of 2008) is chosen when it is compiled.
program pingpong
#if defined(F08)
  use mpi_f08
#elif defined(MODULE)
  use mpi
#endif
  implicit none
#if !defined(F08) && !defined(MODULE)
  include 'mpif.h'
#endif
  integer :: rank, error, i
  double precision :: a(50), s
#if defined(F08)
  type(MPI_Status) :: status
#else
  integer :: status(MPI_STATUS_SIZE)
#endif
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  a = 1
  do i = 1, 10
    if (rank == 0) then
      call MPI_Send(a, 50, MPI_DOUBLE_PRECISION, 1, 0, MPI_COMM_WORLD, error)
      call MPI_Recv(a, 50, MPI_DOUBLE_PRECISION, 1, 0, MPI_COMM_WORLD, status, error)
    else
      call MPI_Recv(a, 50, MPI_DOUBLE_PRECISION, 0, 0, MPI_COMM_WORLD, status, error)
      call MPI_Send(a, 50, MPI_DOUBLE_PRECISION, 0, 0, MPI_COMM_WORLD, error)
    end if
    call MPI_Allreduce(a(1), s, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, error)
    call MPI_Barrier(MPI_COMM_WORLD, error)
  end do
  call MPI_Finalize(error)
end program
