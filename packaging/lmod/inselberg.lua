-- Inselberg for Lmod. `bash packaging/install.sh PREFIX` writes it to PREFIX/share/modulefiles/inselberg/VERSION.lua:
--     module use PREFIX/share/modulefiles && module load inselberg
-- Elsewhere than below share/modulefiles, set `root` to the folder of the installation.
local mpi = "@MPI@" -- openmpi, mpich or none
local root = myFileName():match("^(.*)/share/modulefiles/")
if not root then
   LmodError("inselberg: set root in " .. myFileName())
end

help([[
Clumps, haloes and their hierarchy in AMR density fields (PHEW), and friends-of-friends groups of particles.
    inselberg --help        man inselberg
]])
whatis("Name: Inselberg")
whatis("Version: " .. myModuleVersion())
whatis("Description: clumps, haloes and groups in astrophysical simulations")
whatis("MPI: " .. mpi)

-- Two installations at once, or the libraries of another MPI than that of the build.
conflict("inselberg")
if mpi == "openmpi" then
   conflict("mpich", "mvapich2", "impi", "intel-mpi", "cray-mpich")
elseif mpi == "mpich" then
   conflict("openmpi")
end

setenv("INSELBERG_ROOT", root)
prepend_path("PATH", pathJoin(root, "bin"))
-- The empty entry keeps the folders that man searches by itself.
append_path("MANPATH", "")
prepend_path("MANPATH", pathJoin(root, "share/man"))
if isDir(pathJoin(root, "lib/pkgconfig")) then
   prepend_path("PKG_CONFIG_PATH", pathJoin(root, "lib/pkgconfig"))
end
