/* Inselberg: clumps and haloes in AMR density fields (PHEW), and friends-of-friends groups, inside a program.
 *
 *     inselberg *handle = NULL;
 *     int code = inselberg_open_serial(8, &handle);
 *
 * Codes. Each function returns 0, or a code such as INSELBERG_INVALID_VALUE. inselberg_message then has one line of text.
 *
 * Ranks. A function that is called collective is called by all ranks of the communicator, in the same order, each with its own
 * cells or particles. All ranks return the same code and message; those of the lowest rank that failed. The next call works,
 * but for INSELBERG_TIMED_OUT. The other functions are local. Ranks number their collective calls. A rank that made another one,
 * has other options, or refused one alone, as with a NULL handle, is INSELBERG_COMMUNICATION or INSELBERG_INVALID_ARGUMENT on all
 * ranks at the next call.
 *
 * Merger trees. A tree has a handle of its own, which belongs to the handle that began it: their calls come one at a time, and
 * fail once that handle is freed.
 *
 * Memory. What is handed over is read or copied before the call returns; nothing of the caller's is kept, and the library frees
 * nothing of the caller's. During the call nobody writes to it. Views of tables belong to the handle; a view ends with the next
 * call that sets cells or finds something, and with the handle.
 *
 * Threads. One call of a handle at a time; another one is refused. Below MPI_THREAD_SERIALIZED all collective calls come from
 * the thread that opened the handle; others are refused. inselberg_message is of the calling thread.
 *
 * MPI. The library works on a duplicate of the communicator. It never initialises or finalises MPI, prints, exits, aborts, or
 * installs handlers of signals.
 */


#ifndef INSELBERG_H
#define INSELBERG_H

#include <stddef.h>
#include <stdint.h>

// Version of this header. It changes when a program must be compiled again.
#define INSELBERG_ABI_VERSION 2

// The call did what it should.
#define INSELBERG_DONE 0

// An argument or option is out of range, is missing, or differs among ranks.
#define INSELBERG_INVALID_ARGUMENT 1

// Cells overlap, lie outside the box, or are no octree.
#define INSELBERG_INVALID_CELLS 2

// A value is not finite, or negative where that is not allowed.
#define INSELBERG_INVALID_VALUE 3

// A file cannot be read.
#define INSELBERG_READ 4

// A file cannot be written.
#define INSELBERG_WRITE 5

// Memory or indices do not suffice.
#define INSELBERG_OUT_OF_MEMORY 6

// The progress function ended the call.
#define INSELBERG_CANCELLED 7

// Ranks waited too long for another one. The handle can only be freed.
#define INSELBERG_TIMED_OUT 8

// Ranks could not exchange messages, or made different calls.
#define INSELBERG_COMMUNICATION 9

// A fault of the library: please report it.
#define INSELBERG_INTERNAL 10

// 32-bit real.
#define INSELBERG_F32 1

// 64-bit real.
#define INSELBERG_F64 2

// 8-bit signed integer.
#define INSELBERG_I8 3

// 16-bit signed integer.
#define INSELBERG_I16 4

// 32-bit signed integer.
#define INSELBERG_I32 5

// 64-bit signed integer.
#define INSELBERG_I64 6

// 8-bit unsigned integer.
#define INSELBERG_U8 7

// 16-bit unsigned integer.
#define INSELBERG_U16 8

// 32-bit unsigned integer.
#define INSELBERG_U32 9

// 64-bit unsigned integer.
#define INSELBERG_U64 10

// The clump of each cell.
#define INSELBERG_CLUMP_LABELS 1

// The halo of each cell, by its main clump.
#define INSELBERG_HALO_LABELS 2

// The group of each particle.
#define INSELBERG_GROUP_LABELS 3

// The clump whose peak each cell is. Each clump has one such cell, on one rank. Collective.
#define INSELBERG_PEAK_LABELS 4

// A handle: threads, ranks, options, the mesh of the last cells and the last result. One per rank.
typedef struct inselberg inselberg;

// A merger tree that grows output by output, and keeps tracers from call to call. One per rank. Rank 0 keeps
// the history, all ranks 16 bytes per dark matter or star member of the last output.
typedef struct inselberg_tree inselberg_tree;

// A function of the caller that gets the progress of calls: the stage, the work done, and all work of the
// stage. A result other than 0 ends the call. From any thread, but once at a time. May be NULL.
typedef int32_t (*inselberg_progress)(void *user, const char *stage, uint64_t done, uint64_t work);

// A function of the caller that gets one line about a result that is right but may surprise. May be NULL.
typedef void (*inselberg_warning)(void *user, const char *message);

// The box that cells or particles are in. Fields that are not set must be 0.
typedef struct {
  // sizeof(inselberg_box).
  size_t size;
  // Length of a cell of level 0, in the caller's unit of length. A cell of level l is 2^l times smaller.
  double side;
  // Cells of level 0 along each axis: 1, 1, 1 for a cube.
  int32_t coarse[3];
  // Whether an axis wraps around: 0 or 1. For particles, all axes do or none.
  int32_t periodic[3];
  // Time, in the caller's unit, for catalogues.
  double time;
  // Centimetres per unit of length. 0 in all three units: unknown.
  double unit_length;
  // Grams per cubic centimetre per unit of density.
  double unit_density;
  // Seconds per unit of time.
  double unit_time;
  // Scale factor, 1 today. 0: no cosmology.
  double aexp;
  // Hubble constant in km/s/Mpc.
  double h0;
  // Matter density parameter.
  double omega_m;
  // Dark-energy density parameter.
  double omega_l;
  // Curvature density parameter.
  double omega_k;
  // Baryon density parameter.
  double omega_b;
  // Radiation density parameter.
  double omega_r;
  // Density parameter of massive neutrinos, which matter does not include.
  double omega_nu;
  // Pressure over density of dark energy today: w(a) = w0 + wa (1 - a). 0: -1, a cosmological constant.
  double w0;
  // wa of the pressure over density of dark energy.
  double wa;
} inselberg_box;

// Numbers in the caller's memory, aligned or not, which the library reads. Fields that are not set must be
// 0.
//
// Several columns of one name are read one after the other, as if they were one. There may be one per level
// of the mesh, for example.
typedef struct {
  // What the numbers are: "density", "position", ... Each function lists its names.
  const char *name;
  // Part 0 of item 0. May be NULL if there are no items.
  const void *data;
  // Number of items in memory.
  int64_t items;
  // Bytes from an item to the next one. 0: parts and items are packed.
  int64_t item_stride;
  // Bytes from a part of an item to the next one. 0: parts are packed.
  int64_t part_stride;
  // A list of items to be read, in this order, packed. NULL: all items are read in order.
  const void *index;
  // Length of this list.
  int64_t index_count;
  // The index of the first item, in the list and in messages: 0 in C, 1 in Fortran.
  int64_t index_base;
  // Type of the numbers: INSELBERG_F64, ...
  int32_t number_type;
  // Type of the list: INSELBERG_I32, INSELBERG_I64, INSELBERG_U32 or INSELBERG_U64. Not used without a
  // list.
  int32_t index_type;
  // Parts of each item, to be checked: 1, 3 or 8. 0: those that the call expects. Vectors may be three
  // columns of 1 part: x, y and z.
  int32_t parts;
} inselberg_column;

// Integers in the caller's memory, aligned or not, which the library writes. Fields that are not set must be
// 0.
typedef struct {
  // Part 0 of item 0. May be NULL if there are no items.
  void *data;
  // Number of items in memory.
  int64_t items;
  // As in inselberg_column.
  int64_t item_stride;
  // As in inselberg_column.
  int64_t part_stride;
  // A list of the items to be written, in this order. NULL: all.
  const void *index;
  // Length of this list.
  int64_t index_count;
  // The index of the first item.
  int64_t index_base;
  // Type of the numbers: INSELBERG_I32, INSELBERG_I64, INSELBERG_U32 or INSELBERG_U64.
  int32_t number_type;
  // Type of the list.
  int32_t index_type;
  // Parts of each item, to be checked: 1, 3 or 8. 0: those that the call expects.
  int32_t parts;
} inselberg_output;

// A table of the last result.
typedef struct {
  // Its name: "clumps", "haloes", "tree", "cells", "members", "Groups", "voids", ... NULL: there is no
  // such table.
  const char *name;
  // Number of rows on this rank.
  int64_t rows;
  // Number of rows on all ranks.
  int64_t total_rows;
  // Number of columns.
  int64_t columns;
} inselberg_table_view;

// A column of a table. Its values are packed.
typedef struct {
  // Its name: "mass", "peak_position", ... NULL: there is no such column.
  const char *name;
  // A description in one sentence.
  const char *description;
  // The values of this rank, row by row.
  const void *data;
  // Number of rows on this rank.
  int64_t rows;
  // Numbers per row: 1, or 3 for vectors.
  int32_t parts;
  // Type of the numbers: INSELBERG_F64, ...
  int32_t number_type;
  // The unit is length^length * mass^mass * time^time, in the units of what was handed over.
  int32_t length;
  // Power of the unit of mass.
  int32_t mass;
  // Power of the unit of time.
  int32_t time;
  // Where lengths are comoving and velocities peculiar: the power of the scale factor that makes values
  // physical.
  int32_t scale_factor;
} inselberg_view;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// The version of the library, such as "0.2.0". Never freed.
const char *inselberg_version(void);

// Copies the message of the last call of this thread that failed, and a zero byte, into a buffer of size
// bytes; a message that is too long is cut. Returns the length of the whole message.
size_t inselberg_message(char *buffer, size_t size);

// Collective over the communicator: a new handle in the MPI of the program. Called by inselberg_open. The
// communicator is duplicated. threads is 1 or more, or 0 for as many as there are processors that the
// process may use, divided by the ranks on its host that may use them too. The pointer at handle is NULL
// before; an open handle is refused, because it would be lost.
int32_t inselberg_open_abi(int32_t abi, int32_t comm, int32_t threads, inselberg **handle);

// A new handle for this process alone, as inselberg_open_abi. Called by inselberg_open_serial.
int32_t inselberg_open_serial_abi(int32_t abi, int32_t threads, inselberg **handle);

// Collective: frees a handle with all that it found, and sets the pointer to NULL. Does nothing with NULL.
// After MPI_Finalize the communicator is not freed, and the code is INSELBERG_COMMUNICATION.
int32_t inselberg_free(inselberg **handle);

// Sets a function that is called with user when a stage begins and now and then within it. It is called
// from any thread, but by one at a time; the work done never decreases within a stage. Functions of two
// handles may run at once. If it returns a number other than 0, the call ends on all ranks with
// INSELBERG_CANCELLED. It must not use the handle. NULL: none.
int32_t inselberg_on_progress(const inselberg *handle, inselberg_progress function, void *user);

// Sets a function that is called with each warning, one line of text, and user. An example of a warning:
// leaves do not fill the box. Warnings come from the calling thread before a call returns, and are the same
// on all ranks. The function must not use the handle. NULL: none.
int32_t inselberg_on_warning(const inselberg *handle, inselberg_warning function, void *user);

// Sets an option of the next calls, the same on all ranks. Keys and values are texts. The keys are those of
// docs/parameters.md for phew, fof, mesh, graph, voids, tree and engine, such as density_threshold,
// min_size, tracers or stall_timeout. Particle types are seven digits, as in "0,1,0,0,0,0,0"; "none" is no
// value. A key that phew and fof share is set for both; "fof.softening" is set for one. A key that voids
// share with others is set for them by "voids." only. PHEW needs a density_threshold. On an error nothing is
// set.
int32_t inselberg_set(const inselberg *handle, const char *key, const char *value);

// Sets the box of the next calls, the same on all ranks: catalogues state its side, time, units and
// cosmology. Cells that were set before stay, if level-0 cells and periodic axes are the same.
int32_t inselberg_set_box(const inselberg *handle, const inselberg_box *of);

// Collective: the cells of this rank as octs, blocks of 2x2x2 cells. Columns, all needed:
//
//   level      level of the eight cells, 1 or more
//   position   three parts: position on the grid of the level above, from 0
//   split      mask: bit c is set where cell c is split into an oct of the next level
//
// Cell c of an oct is at 2 * position + (c & 1, c >> 1 & 1, c >> 2 & 1). Values and labels of octs have
// eight parts in the order of c. The octs of all ranks make up a whole octree, and none is given twice. The
// cells are used until others are set.
int32_t inselberg_set_octs(const inselberg *handle, const inselberg_column *columns, int64_t n);

// Collective: the cells of this rank as leaves, in any order. Columns, all needed:
//
//   level      level of the leaf
//   position   three parts: position on the grid of this level, from 0
//
// Leaves that are not denser than the density threshold may be left out. Values and labels have one part.
int32_t inselberg_set_leaves(const inselberg *handle, const inselberg_column *columns, int64_t n);

// Collective: PHEW on the cells that were set. The mesh of these cells is kept for the next calls. Columns,
// each one value per cell:
//
//   density        needed
//   mass_density   the mass density, if density is something else; masses come from it
//   velocity_x, velocity_y, velocity_z   all or none; clumps then have mean velocities
int32_t inselberg_phew(const inselberg *handle, const inselberg_column *columns, int64_t n);

// Collective: friends-of-friends groups of particles. Columns:
//
//   position   three parts; needed. The box starts at 0; in a periodic box positions may be up to one side outside
//   id         integers from 0, none twice; else particles are numbered through all ranks
//   mass       else all are 1
//   velocity   three parts; groups then have mean velocities
//   attached   not 0: the particle does not link, but joins the group of the nearest particle that does
int32_t inselberg_fof(const inselberg *handle,
                      const inselberg_column *columns,
                      int64_t n);

// Collective: copies the particles of this rank, for inselberg_find and as members of clumps of cells:
// inselberg_phew then takes the options unbind, properties, with_members, with_particles and min_particles.
// They are kept until others are set; no columns (n = 0) free them. Velocities and densities are kept in
// single precision. Columns:
//
//   position   three parts; needed. The box of inselberg_set_box starts at 0 and is a cube
//   mass       needed by all searches but that for groups without properties
//   velocity   three parts, in units of length over time; needed for bound members
//   id         integers, none twice; else particles are numbered through all ranks
//   type       0 gas, 1 dark matter, 4 stars, 5 black holes; else all are dark matter
//   density    of gas, for the option given_density
int32_t inselberg_set_particles(const inselberg *handle, const inselberg_column *columns, int64_t n);

// Collective: a search among the particles that were set. what is one of
//
//   "groups"   friends-of-friends groups, with the properties that the option properties names, and labels
//   "mesh"     clumps and haloes on the mesh that particles refine; options as m_refine and level_max
//   "graph"    clumps and haloes on the graph of nearest neighbours; the option neighbours
//   "voids"    voids, zones and their tree; thresholds by "voids.wall_threshold" and the like
int32_t inselberg_find(const inselberg *handle, const char *what);

// Collective: the clumps of the last PHEW under the options that are set now, without its cells. The density
// threshold, the rules and the kind of persistence must be the same.
int32_t inselberg_recut(const inselberg *handle);

// The labels of the last result, in the order of the cells or particles of this rank. 0: in no clump, halo
// or group. which is INSELBERG_CLUMP_LABELS, ... Several outputs are filled one after the other. Collective
// for INSELBERG_PEAK_LABELS.
int32_t inselberg_labels(const inselberg *handle, int32_t which, const inselberg_output *outputs, int64_t n);

// Table i of the last result, from 0; its name is NULL where there is none. Rows continue from rank to
// rank.
int32_t inselberg_table(const inselberg *handle, int64_t i, inselberg_table_view *view);

// Column i of the table of this name, from 0; its name is NULL where there is none. The view holds until
// the next call that finds something, and until the handle is freed.
int32_t inselberg_table_column(const inselberg *handle, const char *table, int64_t i, inselberg_view *view);

// Collective: from now until something else is found, the table shows other rows on this rank: those with
// the identifiers in the column id, in this order. Each rank picks what it needs, or nothing; several may
// pick the same rows. An identifier that the table does not list is left out. inselberg_write is not
// concerned. Columns:
//
//   id   integers; needed
int32_t inselberg_pick_rows(const inselberg *handle,
                            const char *table,
                            const inselberg_column *columns,
                            int64_t n);

// Collective: sums values of the program over the cells or particles of each label. The sums are further
// columns of the table of these labels, which inselberg_table_column shows and inselberg_write writes.
// which is INSELBERG_CLUMP_LABELS, INSELBERG_HALO_LABELS or INSELBERG_GROUP_LABELS. Sums have the same bits
// on any number of ranks. Rows that were picked are shown no more. Columns have one value per cell or
// particle, octs have eight, and any name that is new to the table.
int32_t inselberg_add_sums(const inselberg *handle,
                           int32_t which,
                           const inselberg_column *columns,
                           int64_t n);

// Collective: writes the catalogue of the last result to a file, whole or not at all. Its ending chooses the
// format: .csv, or .hdf5 where the library is built with HDF5. All ranks name the same file.
int32_t inselberg_write(const inselberg *handle, const char *path);

// Collective: writes the labels of the last clumps, whole or not at all. which is INSELBERG_CLUMP_LABELS or
// INSELBERG_HALO_LABELS. The ending chooses the format: .fits is an image of the label of each cell, 0 for
// none, which needs the option with_cells and cells of one size; .reg and .crtf are ellipses for DS9 and
// CARTA, which need a FITS image. All ranks name the same file.
int32_t inselberg_write_labels(const inselberg *handle, int32_t which, const char *path);

// Collective: an empty merger tree, with the options tree_gap, tree_tracers and tree_orphans as they are set
// now. The pointer at tree is NULL before. Several trees of a handle may grow side by side.
int32_t inselberg_tree_begin(const inselberg *handle, inselberg_tree **tree);

// Collective: adds an output to a tree, whose objects the program has found itself. It is later than the
// outputs so far, by its number (0 or more) and by time and scale factor of the box. All ranks give the
// same number and box. Each object is on one rank, with all its members. Columns per object:
//
//   id             identifier, below 2^40; needed. Catalogues of clumps and groups have such
//   n_members      number of members; needed
//   first_member   place of the first member among the members of this rank, from 0; else members are in the
//   order of the objects
//   parent         the object that it is in, or its own identifier; else no object is in another
//   mass           else all are 0
//   position       three parts; else all are 0
//   velocity       three parts; else all are 0
//
// and per member, those of an object with the most bound first:
//
//   member         identity of a particle; needed
//   member_type    0 gas, 1 dark matter, 4 stars, 5 other; else all are dark matter
//
// After an error the tree is as before.
int32_t inselberg_tree_add(const inselberg_tree *tree,
                           int64_t number,
                           const inselberg_box *of,
                           const inselberg_column *columns,
                           int64_t n);

// Collective: adds the last result of a handle to a tree: clumps that were unbound, or groups with the
// property bound, both with the option with_members. The output is later than those so far, by its number
// (0 or more) and by time and scale factor of the box. After an error the tree is as before.
int32_t inselberg_tree_add_found(const inselberg_tree *tree, const inselberg *handle, int64_t number);

// Collective: adds an output from a file that inselberg_write or a command of Inselberg wrote, as after a
// restart: clumps that were unbound, or groups with the property bound, both with the option with_members. It
// is later than the outputs so far. All ranks name the same file. After an error the tree is as before.
int32_t inselberg_tree_add_file(const inselberg_tree *tree, const char *path);

// The number of outputs of a tree so far.
int32_t inselberg_tree_outputs(const inselberg_tree *tree, int64_t *n);

// Collective: writes the tree so far to a file, whole or not at all, in the tables of inselberg tree. Its
// ending chooses the format, as in inselberg_write. More outputs may follow.
int32_t inselberg_tree_write(const inselberg_tree *tree, const char *path);

// Frees a tree, and sets the pointer to NULL. Does nothing with NULL. Before or after inselberg_free.
int32_t inselberg_tree_free(inselberg_tree **tree);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* INSELBERG_H */

#ifdef __cplusplus
extern "C" {
#endif

// Collective: a new handle on a communicator as Fortran names it: an integer, or the MPI_VAL of a type(MPI_Comm). The pointer
// is NULL before: an open handle is refused on all ranks, because it would be lost.
static inline int32_t inselberg_open(int32_t comm, int32_t threads, inselberg **handle) {
  return inselberg_open_abi(INSELBERG_ABI_VERSION, comm, threads, handle);
}

// A new handle for this process alone. MPI need not run. The pointer is NULL before.
static inline int32_t inselberg_open_serial(int32_t threads, inselberg **handle) {
  return inselberg_open_serial_abi(INSELBERG_ABI_VERSION, threads, handle);
}

// Collective: a new handle on a communicator of C. For programs that include mpi.h before this header.
#ifdef MPI_VERSION
static inline int32_t inselberg_open_mpi(MPI_Comm comm, int32_t threads, inselberg **handle) {
  return inselberg_open((int32_t)MPI_Comm_c2f(comm), threads, handle);
}
#endif

// The column of these names; its name is NULL where there is none.
static inline int32_t inselberg_find_column(const inselberg *handle, const char *table, const char *column,
                                            inselberg_view *view) {
  for (int64_t i = 0;; i++) {
    int32_t code = inselberg_table_column(handle, table, i, view);
    const char *a = view->name, *b = column;
    if (code != INSELBERG_DONE || a == NULL) {
      return code;
    }
    while (*a != 0 && *a == *b) {
      a++, b++;
    }
    if (*a == *b) {
      return code;
    }
  }
}

#ifdef __cplusplus
}
#endif
