package formula

// An Example is a layout of the paper with a description, and data of the same shape.
type Example struct {
	Name, Note string
	// Demo is the run it is meant for; any other run with the bound events will do.
	Demo string
	// Text is the block, and its UI, as a file has them.
	Text string
}

// Examples are the listings and Figures 2 to 8 of Spear and others. Listings are as
// printed, with their wrapped lines and commas.
var Examples = []Example{
	{Name: "figure2", Note: "Sweep3D where MPI says that ranks are; time in MPI_Barrier", Demo: "sweep3d",
		Text: `BEGIN_VIZ=figure2
x=coordX
y=coordY
z=coordZ
END_VIZ
BEGIN_UI=figure2
event0=MPI_Barrier:exclusive
event0.name=time in MPI_Barrier
shape=spheres
END_UI
`},
	{Name: "figure3", Note: "the same ranks stacked block by block in two dimensions", Demo: "sweep3d",
		Text: `BEGIN_VIZ=figure3
side=ceil(sqrt(maxRank))
x=mod(rank,side)
y=floor(rank/side)
z=0
END_VIZ
BEGIN_UI=figure3
event0=MPI_Barrier:exclusive
event0.name=time in MPI_Barrier
camera=0,90,1
END_UI
`},
	{Name: "figure4", Note: "Listing 1.1: the same ranks on a sphere of radius 100", Demo: "sweep3d",
		Text: `BEGIN_VIZ=figure4
rootRanks=sqrt(maxRank)
theta=2*pi() /
    rootRanks*mod(rank , rootRanks)
phi=pi() /
    rootRanks*(floor(rank/rootRanks))
x=cos(theta)*sin(phi)*100
y=sin(theta)*sin(phi)*100
z=cos(phi)*100
END_VIZ
BEGIN_UI=figure4
event0=MPI_Barrier:exclusive
event0.name=time in MPI_Barrier
END_UI
`},
	{Name: "figure5", Note: "Figure 2 without its middle values: min above max shows what lies outside",
		Demo: "sweep3d", Text: `BEGIN_VIZ=figure5
x=coordX
y=coordY
z=coordZ
END_VIZ
BEGIN_UI=figure5
event0=MPI_Barrier:exclusive
event0.name=time in MPI_Barrier
shape=spheres
min=70%
max=30%
END_UI
`},
	{Name: "figure6", Note: "Figure 2 cut along x: one plane of ranks, and their mean", Demo: "sweep3d",
		Text: `BEGIN_VIZ=figure6
x=coordX
y=coordY
z=coordZ
END_VIZ
BEGIN_UI=figure6
event0=MPI_Barrier:exclusive
event0.name=time in MPI_Barrier
shape=spheres
slice=x=16
END_UI
`},
	{Name: "4P×16Block", Note: "Figure 7, Listing 1.2: S3D, a block of nodes for each of the four cores", Demo: "s3d",
		Text: `BEGIN_VIZ=4P×16Block
xdim=8,ydim=8,zdim=16
x=mod(rank,xdim)+16*floor(rank/1024)
y=mod(floor(rank/xdim),ydim)
z=mod(floor(rank/xdim/ydim),zdim)
END_VIZ
BEGIN_UI=4P×16Block
event0=MPI_Allreduce:exclusive
event0.name=time in MPI_Allreduce
shape=spheres
END_UI
`},
	{Name: "figure7-nodes", Note: "the alternative of Figure 7: the four cores of a node side by side", Demo: "s3d",
		Text: `BEGIN_VIZ=figure7-nodes
xdim=8,ydim=8,zdim=16
core=floor(rank/1024)
x=6*mod(rank,xdim)+core
y=4*mod(floor(rank/xdim),ydim)
z=4*mod(floor(rank/xdim/ydim),zdim)
END_VIZ
BEGIN_UI=figure7-nodes
event0=MPI_Allreduce:exclusive
event0.name=time in MPI_Allreduce
shape=spheres
point=0.45
END_UI
`},
	{Name: "ScatterTest", Note: "Figure 8, Listing 1.3: ZGrd, three events place a rank and the fourth colours it",
		Demo: "zgrd", Text: `BEGIN_VIZ=ScatterTest
restrictDim=1
x=(event0.val-event0.min)/
  (event0.max-event0.min)
y=(event1.val-event1.min)/
  (event1.max-event1.min)
z=(event2.val-event2.min)/
  (event2.max-event2.min)
END_VIZ
BEGIN_UI=ScatterTest
event0=solve_vertical:exclusive
event0.name=work
event1=MPI_Allreduce:exclusive
event1.name=time in MPI_Allreduce
event2=MPI_Waitall:exclusive
event2.name=waiting for neighbours
event3=MPI_File_write:exclusive
event3.name=writing
END_UI
`},
}
