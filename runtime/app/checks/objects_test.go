package checks

import (
	"strings"
	"testing"
	"time"

	"github.com/postrider/postrider/modules/sending/bodies"
	"github.com/postrider/postrider/modules/sending/sendingtest/rooms"
	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/base/setting"
	"github.com/postrider/postrider/runtime/mail/smtpclient"
	"github.com/postrider/postrider/runtime/ops/config"
	"github.com/postrider/postrider/runtime/ops/doctor"
	"github.com/postrider/postrider/runtime/storage/blob"
	"github.com/postrider/postrider/runtime/storage/blob/blobtest"
)

// The doctor reports bodies in a store that is not configured, and a store that does not respond.
func TestDoctorChecksObjectStore(t *testing.T) {
	t.Parallel()
	store := blobtest.New(t)
	bucket, err := blob.S3(store.Config())
	if err != nil {
		t.Fatal(err)
	}
	r := rooms.WithObjects(t, bucket, bodies.Config{After: time.Second})
	look := func(at string) string {
		t.Helper()
		cfg, err := config.Load(setting.Tool, "here", setting.RawValues{"POSTRIDER_BLOBS": at})
		if err != nil {
			t.Fatal(err)
		}
		var seen []string
		for _, f := range checkObjectStore(Params{Config: cfg, DB: r.DB})(t.Context()) {
			seen = append(seen, f.Check+" "+f.Level.String()+": "+f.Found)
			if f.Level > doctor.OK && f.Do == "" {
				t.Errorf("%+v has no advice", f)
			}
		}
		return strings.Join(seen, "\n")
	}
	if got := look(""); got != "" {
		t.Errorf("without a store and without bodies in one the doctor reports\n%s", got)
	}
	r.Send(t, rooms.SimpleMessage("bob@example.net"))
	r.SettleWith(t, r.ClaimAll(t), smtpclient.Outcome{Kind: smtpclient.Delivered, Code: 250, Reply: "250 Ok"})
	if err := r.Mover.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	expect.Eventually(t, "the body is in the store", func() bool { return r.Count(t, `emails WHERE body_key IS NOT NULL`) == 1 })
	if got := look(store.Setting()); got != "objects.store ok: it responds" {
		t.Errorf("with the store the doctor reports\n%s", got)
	}
	if got := look(""); !strings.HasPrefix(got, "objects.bodies error: bodies of sent emails are in an object store") {
		t.Errorf("without the store the doctor reports\n%s", got)
	}
	store.Close()
	if got := look(store.Setting()); !strings.HasPrefix(got, "objects.store error: ") {
		t.Errorf("with an unreachable store the doctor reports\n%s", got)
	}
}
