package config_test

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"github.com/postrider/postrider/runtime/base/setting"
	"github.com/postrider/postrider/runtime/ops/config"
)

func TestReplicaRequiresDatabaseURL(t *testing.T) {
	t.Parallel()
	const primary = "postgres://postrider:hunter2@one/postrider"
	for _, c := range []struct{ database, replica, want string }{
		{primary, "postgres://postrider:hunter2@two/postrider?target_session_attrs=standby", ""},
		{primary, "postgres://postrider:hunter2@one,two/postrider?port=5432,5432", ""},
		{"", "postgres://postrider:hunter2@two/postrider", "requires DATABASE_URL"},
		{primary, "postgres://postrider:hunter2@two/postrider?target_session_attrs=read-write", "requests the primary"},
		{primary, "postgres://postrider:hunter2@two:x/postrider", "is not a PostgreSQL address"},
	} {
		texts := setting.RawValues{config.ReplicaURL.Name: c.replica}
		if c.database != "" {
			texts[config.DatabaseURL.Name] = c.database
		}
		loaded, err := config.Load(setting.Tool, "", texts)
		if c.want == "" && err != nil || c.want != "" &&
			(err == nil || !strings.Contains(err.Error(), config.ReplicaURL.Name+" "+c.want)) {
			t.Errorf("%s with %q returned %v, want %q", c.replica, c.database, err, c.want)
		}
		var log bytes.Buffer
		slog.New(slog.NewTextHandler(&log, nil)).Info("loaded", "config", loaded, "error", err)
		if strings.Contains(log.String(), "hunter2") {
			t.Errorf("the password is visible: %s", log.String())
		}
	}
}
