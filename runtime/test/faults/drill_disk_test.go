package faults_test

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/ops/diskroom"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
	"github.com/postrider/postrider/runtime/test/faults"
)

// One key of a free account without a quota writes as much as possible to a small disk. It is stopped before
// others are affected. As the disk fills up further, other accounts may store only mail, and then nothing.
// Accepted mail is still delivered, the service stays ready, and all writes resume after space is freed.
func TestDrillFullDiskStopsWritesInStages(t *testing.T) {
	expect.SkipWhenQuick(t, "make drill-short")
	t.Parallel()
	folder := dbtest.SmallDisk(t, "655m")
	database := dbtest.NewServerIn(t, folder)
	sink := faults.NewSink(t)
	server := faults.Start(t, database.URL(), outbound(sink.Listen("127.0.0.1:0")))
	server.Query(`UPDATE plans SET stored_bytes = NULL, daily_bytes = NULL, requests_per_second = 100000`)
	var made struct{ Account struct{ ID string } }
	decode(t, server.Command(database.URL(), "account", "create", "--email=eve@example.org", "--name=Eve",
		"--plan=free"), &made)
	var key struct{ Secret string }
	decode(t, server.Command(database.URL(), "key", "create", "--account="+made.Account.ID, "--name=eve"), &key)

	load := faults.Begin(server, 1)
	expect.Eventually(t, "the load is running", func() bool { return sink.Count() > 20 })
	// 600 kB of incompressible data, as a template.
	template := func(header ...string) int {
		text := make([]byte, 450_000)
		if _, err := rand.Read(text); err != nil {
			t.Fatal(err)
		}
		body := fmt.Sprintf(`{"name":"Hello","subject":"Hello","text":%q}`, base64.StdEncoding.EncodeToString(text))
		return server.Do(t.Context(), http.MethodPost, "/api/templates", body, header...).Status
	}
	stored := 0
	for ; stored < 2000; stored++ {
		status := template("Authorization", "Bearer "+key.Secret)
		if status == http.StatusServiceUnavailable {
			break
		}
		if status != http.StatusOK {
			t.Fatalf("template %d of the free account got %d, want 200 or 503", stored, status)
		}
	}
	room := func() diskroom.Room {
		r, err := diskroom.Stat(folder)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	share := func() float64 { r := room(); return float64(r.Free) / float64(r.Total) }
	figure(t, "templates of 600 kB that the free account stored", stored, "-")
	figure(t, "free part of the disk when the account was stopped", share(), "about 0.20")
	if stored == 2000 || share() < 0.10 {
		t.Fatalf("the free account stored %d templates and left %.2f of the disk", stored, share())
	}
	if status := template(); status != http.StatusOK {
		t.Errorf("a template of another account got %d, want 200", status)
	}
	awaitNewMail(t, load, "others continue to send")

	// Another program fills the disk until only a given share is free.
	var ballast []*os.File
	t.Cleanup(func() {
		for _, f := range ballast {
			_ = f.Close()
		}
	})
	fill := func(target float64) {
		t.Helper()
		f, err := os.Create(filepath.Join(folder, fmt.Sprintf("ballast%d", len(ballast))))
		if err != nil {
			t.Fatal(err)
		}
		ballast = append(ballast, f)
		for chunk := bytes.Repeat([]byte("x"), 1<<20); share() > target; {
			if _, err := f.Write(chunk); err != nil {
				t.Fatal(err)
			}
		}
	}
	fill(0.12)
	expect.Eventually(t, "only mail is stored", func() bool { return template() == http.StatusServiceUnavailable })
	awaitNewMail(t, load, "mail is accepted below the second watermark")
	fill(0.06)
	email := `{"from":"ada@dev.test","to":"last@example.net","subject":"s","text":"t"}`
	expect.Eventually(t, "nothing is accepted", func() bool {
		a := server.Do(t.Context(), http.MethodPost, "/api/emails", email)
		return a.Status == http.StatusServiceUnavailable && a.Header.Get("Retry-After") != ""
	})
	for range 5 {
		if a := server.Do(t.Context(), http.MethodGet, "/readyz", ""); a.Status != http.StatusOK {
			t.Errorf("with a nearly full disk /readyz returned %d %s, want 200", a.Status, a.Body)
		}
	}
	load.End()
	expect.Eventually(t, "accepted mail is delivered while the disk is nearly full",
		func() bool { return load.Missing(sink) == 0 })

	for _, f := range ballast {
		if err := os.Remove(f.Name()); err != nil {
			t.Fatal(err)
		}
		_ = f.Close()
	}
	ballast = nil
	server.Query(`DELETE FROM templates`)
	server.Query(`TRUNCATE template_edits, template_versions, templates`)
	freed := time.Now()
	expect.Eventually(t, "everything is stored again", func() bool {
		return template() == http.StatusOK && template("Authorization", "Bearer "+key.Secret) == http.StatusOK &&
			server.Do(t.Context(), http.MethodPost, "/api/emails", email).Status == http.StatusOK
	})
	atMost(t, "everything is stored again after space was freed", time.Since(freed), 15*time.Second)
	awaitIdle(t, server)
	audit(t, load.Audit(sink, nil, nil))
}

func decode(t *testing.T, text []byte, into any) {
	t.Helper()
	if err := json.Unmarshal(text, into); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
}

// awaitNewMail waits for newly accepted mail.
func awaitNewMail(t *testing.T, load *faults.Load, what string) {
	t.Helper()
	now := time.Now()
	expect.Eventually(t, what, func() bool { return load.LastAccepted().After(now) })
}
