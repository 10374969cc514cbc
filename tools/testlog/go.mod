module github.com/parallax-hpc/parallax/tools/testlog

go 1.26.0
