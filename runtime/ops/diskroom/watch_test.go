package diskroom_test

import (
	"log/slog"
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/ops/diskroom"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
)

func TestDiskLevels(t *testing.T) {
	t.Parallel()
	const gb = 1e9
	for _, c := range []struct {
		name   string
		free   float64
		total  float64
		before diskroom.Level
		want   diskroom.Level
	}{
		{"half of a small disk", 50e6, 100e6, diskroom.Enough, diskroom.Enough},
		{"a fifth", 20e6, 100e6, diskroom.Enough, diskroom.Enough},
		{"less than a fifth", 19e6, 100e6, diskroom.Enough, diskroom.PaidOnly},
		{"13 %", 13e6, 100e6, diskroom.Enough, diskroom.MailOnly},
		{"7 %", 7e6, 100e6, diskroom.Enough, diskroom.Full},
		{"nothing", 0, 100e6, diskroom.Enough, diskroom.Full},
		{"a little more than where Full begins", 9e6, 100e6, diskroom.Full, diskroom.Full},
		{"enough free space to leave Full", 11e6, 100e6, diskroom.Full, diskroom.MailOnly},
		{"a little more than a fifth after less", 21e6, 100e6, diskroom.PaidOnly, diskroom.PaidOnly},
		{"enough again", 23e6, 100e6, diskroom.PaidOnly, diskroom.Enough},
		{"5 % of a large disk", 50 * gb, 1000 * gb, diskroom.Enough, diskroom.Enough},
		{"9 GB of a large disk", 9 * gb, 1000 * gb, diskroom.Enough, diskroom.PaidOnly},
		{"4 GB of a large disk", 4 * gb, 1000 * gb, diskroom.Enough, diskroom.MailOnly},
		{"1 GB of a large disk", 1 * gb, 1000 * gb, diskroom.Enough, diskroom.Full},
		{"13 GB of a large disk after less", 13 * gb, 1000 * gb, diskroom.Full, diskroom.Enough},
	} {
		if got := diskroom.LevelOf(diskroom.Room{Free: uint64(c.free), Total: uint64(c.total)},
			c.before); got != c.want {
			t.Errorf("%s, after %s: got the level %s, want %s", c.name, c.before, got, c.want)
		}
	}
}

func newWatch(t *testing.T, c diskroom.Config) *diskroom.Sampler {
	t.Helper()
	w, err := diskroom.New(diskroom.Params{Config: c, DB: dbtest.New(t), Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.Stop(t.Context()) })
	return w
}

func TestAnnouncedBytesCountImmediately(t *testing.T) {
	t.Parallel()
	w := newWatch(t, diskroom.Config{Dir: t.TempDir(), Every: time.Hour})
	room, ok := w.Room()
	if !ok || w.Level() != diskroom.Enough {
		t.Skipf("the disk of this machine is too full for this test: %+v", room)
	}
	w.Use(int64(room.Free))
	if got := w.Level(); got != diskroom.Full {
		t.Errorf("after using all free bytes, the level is %s, want full", got)
	}
}

// The size stated by the operator is compared with the size of the database.
func TestStatedRoomCountsIfDiskIsUnknown(t *testing.T) {
	t.Parallel()
	if w := newWatch(t, diskroom.Config{Bytes: 1 << 20, SizeEvery: time.Hour}); w.Level() != diskroom.Full {
		t.Errorf("a database that is larger than its limit has level %s, want full", w.Level())
	}
	w := newWatch(t, diskroom.Config{Bytes: 1 << 50, SizeEvery: time.Hour})
	if room, ok := w.Room(); w.Level() != diskroom.Enough || !ok || room.Total != 1<<50 || room.Free == room.Total {
		t.Errorf("a database within its limit has level %s and %+v, want enough", w.Level(), room)
	}
	if w := newWatch(t, diskroom.Config{}); w.Level() != diskroom.Enough {
		t.Errorf("an unknown disk has level %s, want enough", w.Level())
	}
}

// The data directory of a server on this machine is found without a setting.
func TestFindsDiskOfLocalServer(t *testing.T) {
	t.Parallel()
	address := dbtest.URL(t)
	w, err := diskroom.New(diskroom.Params{DB: dbtest.New(t), DatabaseURL: address,
		Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.Stop(t.Context()) })
	if room, ok := w.Room(); !ok || room.Total == 0 {
		t.Errorf("the disk of a server at %s is %+v, known: %v; want that of its data directory (%s)", address, room,
			ok, w.Dir())
	}
}

func TestLevelEndsWhenSpaceIsFreed(t *testing.T) {
	t.Parallel()
	dir := dbtest.SmallDisk(t, "32m")
	w := newWatch(t, diskroom.Config{Dir: dir, Every: 10 * time.Millisecond})
	if w.Level() != diskroom.Enough {
		t.Fatalf("an empty disk has level %s, want enough", w.Level())
	}
	undo := dbtest.Fill(t, dir)
	expect.Eventually(t, "the disk is full", func() bool { return w.Level() == diskroom.Full })
	undo()
	expect.Eventually(t, "the disk has enough space again", func() bool { return w.Level() == diskroom.Enough })
}
