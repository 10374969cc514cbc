module github.com/parallax-hpc/parallax/tools/cross

go 1.26.0
