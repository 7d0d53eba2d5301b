package diskroom

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/lib/pq"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/postrider/postrider/runtime/base/telemetry"
	"github.com/postrider/postrider/runtime/base/worker"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/web/clientip"
)

// Room contains the free and the total bytes of a disk.
type Room struct{ Free, Total uint64 }

// Level determines what may still be stored.
type Level int32

// The levels, from the best to the worst.
const (
	Enough   Level = iota // everything
	PaidOnly              // data of free accounts is rejected
	MailOnly              // everything except mail is rejected
	Full                  // everything is rejected
)

func (l Level) String() string { return [...]string{"enough", "paid_only", "mail_only", "full"}[l] }

// watermark is the free space at which a level begins: below a fraction of the disk, and below a number of
// bytes.
type watermark struct {
	part  float64
	bytes uint64
}

var watermarks = [...]watermark{PaidOnly: {0.20, 10e9}, MailOnly: {0.14, 5e9}, Full: {0.08, 2e9}}

const (
	relief      = 0.02 // free share of the disk above the watermark that ends a level
	writeFactor = 3    // applied to bytes about to be written
)

// LevelOf returns the level of a disk. before is the previous level, which ends later than it begins.
func LevelOf(r Room, before Level) Level {
	for level := Full; level > Enough; level-- {
		mark := watermarks[level]
		limit := min(mark.part*float64(r.Total), float64(mark.bytes))
		if before >= level {
			limit += min(relief*float64(r.Total), float64(mark.bytes)/4)
		}
		if float64(r.Free) < limit {
			return level
		}
	}
	return Enough
}

// Config configures a Watch.
type Config struct {
	Dir   string        // the data directory of the embedded server; may be empty
	Bytes int64         // the size stated by the operator; 0 if there is none
	Every time.Duration // interval of sampling the disk; default 1 s
	// SizeEvery is the interval of measuring the size of the database, if Bytes is used; default 30 s.
	SizeEvery time.Duration
}

// Params contains the parameters of New.
type Params struct {
	Config      Config
	DB          *db.DB
	DatabaseURL string // to determine whether the server is on this machine
	Logger      *slog.Logger
	Registry    prometheus.Registerer // no metrics if nil
	Workers     *worker.Metrics
}

// Sampler samples the disk. It is safe for concurrent use.
type Sampler struct {
	config Config
	db     *db.DB
	url    string
	log    *slog.Logger
	tasks  *worker.Tasks

	room    atomic.Pointer[Room] // the last sample; nil if unknown
	level   atomic.Int32
	written atomic.Int64 // since the last sample
}

// New returns a new Sampler. The disk is unknown before Start.
func New(p Params) (*Sampler, error) {
	w := &Sampler{config: p.Config, db: p.DB, url: p.DatabaseURL, log: p.Logger,
		tasks: worker.NewTasks(p.Logger, p.Workers)}
	if w.config.Every == 0 {
		w.config.Every = time.Second
	}
	if w.config.SizeEvery == 0 {
		w.config.SizeEvery = 30 * time.Second
	}
	gauge := func(name, help string, value func(Room) float64) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Namespace: telemetry.Namespace, Subsystem: "database_disk",
			Name: name, Help: help}, func() float64 {
			if r := w.room.Load(); r != nil {
				return value(*r)
			}
			return -1
		})
	}
	return w, telemetry.Register(p.Registry,
		gauge("free_bytes", "Free bytes of the database's disk; -1 if unknown.",
			func(r Room) float64 { return float64(r.Free) }),
		gauge("total_bytes", "Size of the database's disk in bytes; -1 if unknown.",
			func(r Room) float64 { return float64(r.Total) }),
		gauge("level",
			"Data that is still stored: 0 all, 1 all except that of free accounts, 2 only mail, 3 none; -1 if the "+
				"disk is unknown.", func(Room) float64 { return float64(w.level.Load()) }))
}

// Start samples the disk once, then starts monitoring it.
func (w *Sampler) Start(ctx context.Context) error {
	if w.config.Dir == "" {
		w.config.Dir = w.findDir(ctx)
	}
	every := w.config.Every
	if w.config.Dir == "" {
		every = w.config.SizeEvery
	}
	if w.config.Dir == "" && w.config.Bytes == 0 {
		if w.url != "" {
			w.log.InfoContext(ctx, "database disk not watched", "reason",
				"it is not visible from here, and POSTRIDER_DATABASE_BYTES is not set")
		}
		return nil
	}
	if err := w.sample(ctx); err != nil {
		w.log.WarnContext(ctx, "database disk not measured", telemetry.KeyError, err)
	}
	w.tasks.Start(worker.Every("room of the database's disk", every, w.sample))
	return nil
}

// Stop stops monitoring. The last level remains.
func (w *Sampler) Stop(ctx context.Context) error {
	w.tasks.Stop(ctx)
	return nil
}

// Room returns the last sample; ok is false if the disk is unknown.
func (w *Sampler) Room() (r Room, ok bool) {
	if last := w.room.Load(); last != nil {
		return *last, true
	}
	return Room{}, false
}

// Level returns the level, taking into account the bytes written since the last sample.
func (w *Sampler) Level() Level {
	r := w.room.Load()
	before := Level(w.level.Load())
	if r == nil || before == Full {
		return before
	}
	if written := uint64(max(w.written.Load(), 0)) * writeFactor; written > 0 {
		now := *r
		now.Free -= min(written, now.Free)
		return max(LevelOf(now, before), before)
	}
	return before
}

// Use counts bytes about to be written.
func (w *Sampler) Use(bytes int64) {
	if w.room.Load() != nil {
		w.written.Add(bytes)
	}
}

func (w *Sampler) sample(ctx context.Context) error {
	counted := w.written.Load()
	r, err := w.measure(ctx)
	if err != nil {
		return fmt.Errorf("measure the disk of the database: %w", err)
	}
	w.room.Store(&r)
	w.written.Add(-counted)
	before := Level(w.level.Load())
	now := LevelOf(r, before)
	w.level.Store(int32(now))
	if now != before {
		log := w.log.WarnContext
		if now < before {
			log = w.log.InfoContext
		}
		log(ctx, "database disk changed level", "level", now.String(), "before", before.String(), "free_bytes", r.Free,
			"total_bytes", r.Total)
	}
	return nil
}

// measure returns the room of the disk, limited to the size stated by the operator.
func (w *Sampler) measure(ctx context.Context) (Room, error) {
	var r Room
	if w.config.Dir != "" {
		var err error
		if r, err = Stat(w.config.Dir); err != nil || w.config.Bytes == 0 {
			return r, err
		}
	}
	size, err := db.One(ctx, w.db.SQL, db.Value[int64], `SELECT pg_database_size(current_database())`)
	if err != nil {
		return r, err
	}
	stated := Room{Total: uint64(w.config.Bytes), Free: uint64(max(w.config.Bytes-size, 0))}
	if w.config.Dir == "" || stated.Free < r.Free {
		return stated, nil
	}
	return r, nil
}

// Measure returns the current room of the database's disk; known is false if this process cannot see it.
func Measure(ctx context.Context, p Params) (r Room, known bool, err error) {
	w := &Sampler{config: p.Config, db: p.DB, url: p.DatabaseURL}
	if w.config.Dir == "" {
		w.config.Dir = w.findDir(ctx)
	}
	if w.config.Dir == "" && w.config.Bytes == 0 {
		return Room{}, false, nil
	}
	r, err = w.measure(ctx)
	return r, err == nil, err
}

// findDir returns the data directory of a server on this machine, or an empty string if it is elsewhere or
// unknown.
func (w *Sampler) findDir(ctx context.Context) string {
	if !onThisMachine(w.url) {
		return ""
	}
	dir, err := db.One(ctx, w.db.SQL, db.Value[string], `SHOW data_directory`) // requires pg_read_all_settings
	if err != nil {
		return ""
	}
	if strings.HasPrefix(dir, "/proc/") { // a server started by Postrider has a path with its own file descriptor
		pid, err := db.One(ctx, w.db.SQL, db.Value[int], `SELECT pg_backend_pid()`)
		if err != nil {
			return ""
		}
		if dir, err = os.Readlink(fmt.Sprintf("/proc/%d/cwd", pid)); err != nil {
			return ""
		}
		// the directory belongs to another container
		if _, err := os.Stat(filepath.Join(dir, "PG_VERSION")); err != nil {
			return ""
		}
	}
	if _, err := os.Stat(dir); err != nil { // this process may not read its contents
		return ""
	}
	return dir
}

// onThisMachine reports whether a database address leads only to sockets and loopback addresses.
func onThisMachine(address string) bool {
	if address == "" {
		return false
	}
	server, err := pq.NewConfig(address)
	if err != nil || len(server.Multi) > 0 {
		return false
	}
	return server.Host == "" || strings.HasPrefix(server.Host, "/") || clientip.IsLocalHost(server.Host)
}
