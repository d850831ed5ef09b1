package workfolder

import (
	"os"

	"golang.org/x/sys/unix"
)

// MaxDepth bounds how deep folders may be nested in a home.
const MaxDepth = 64

// Use is the measured content of a home.
type Use struct {
	// Bytes is the space of the files on the disk. A file with holes takes less than its length.
	Bytes int64
	// Files counts files and folders.
	Files int
	// TooDeep means that folders are nested deeper than MaxDepth.
	TooDeep bool
}

// Use measures the report and the home, until they are over one of the limits. Files that
// vanish meanwhile or cannot be read count nothing. Use does not follow links. It measures one
// home of an area at a time, with a descriptor for each level.
func (f *Folder) Use(maxBytes int64, maxFiles int) Use {
	f.area.looks.Lock()
	defer f.area.looks.Unlock()
	w := walk{maxBytes: maxBytes, maxFiles: maxFiles}
	var report unix.Stat_t
	if unix.Fstat(int(f.report.Fd()), &report) == nil {
		w.use.Bytes = report.Blocks * 512
	}
	if top, err := openIn(f.home, "."); err == nil {
		w.look(top, 0)
	}
	return w.use
}

type walk struct {
	maxBytes int64
	maxFiles int
	use      Use
}

func (w *walk) enough() bool {
	return w.use.Bytes > w.maxBytes || w.use.Files > w.maxFiles || w.use.TooDeep
}

// look counts the content of a folder, and closes the folder.
func (w *walk) look(folder *os.File, depth int) {
	defer folder.Close()
	for {
		names, err := folder.Readdirnames(batch)
		for _, name := range names {
			if w.count(folder, name, depth); w.enough() {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

func (w *walk) count(in *os.File, name string, depth int) {
	var stat unix.Stat_t
	if unix.Fstatat(int(in.Fd()), name, &stat, unix.AT_SYMLINK_NOFOLLOW) != nil {
		return
	}
	w.use.Files++
	w.use.Bytes += stat.Blocks * 512 // the unit is fixed, whatever the disk's blocks are
	if stat.Mode&unix.S_IFMT != unix.S_IFDIR || w.enough() {
		return
	}
	if depth >= MaxDepth {
		w.use.TooDeep = true
		return
	}
	if folder, err := openIn(in, name); err == nil {
		w.look(folder, depth+1)
	}
}
