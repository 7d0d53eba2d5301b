package eventexport

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/postrider/postrider/runtime/base/setting"
)

// Settings are parsed, and neither the log nor the errors contain a secret.
func TestExportSettings(t *testing.T) {
	t.Parallel()
	v, err := setting.Read(setting.Dev, "here",
		setting.RawValues{"POSTRIDER_EVENTS_TO": "nats://me:s3cret@a.example,b.example",
			"POSTRIDER_EVENTS_SUBJECTS": "eu1.facts"})
	if err != nil {
		t.Fatal(err)
	}
	c := ConfigOf(v, slog.New(slog.DiscardHandler)).Stream
	if len(c.Target.Servers) != 2 || c.Target.Password.Reveal() != "s3cret" || c.Prefix != "eu1.facts" ||
		c.Stream != "postrider-facts" || c.Replicas != 3 || c.MaxAge.Hours() != 168 {
		t.Errorf("the configuration is %+v", c)
	}
	var log bytes.Buffer
	slog.New(slog.NewTextHandler(&log, nil)).Info("configuration", "config", v, "stream", fmt.Sprintf("%+v", c))
	if !strings.Contains(log.String(), "nats://a.example:4222,nats://b.example:4222") ||
		strings.Contains(log.String(), "s3cret") {
		t.Errorf("the log contains %s, want the servers and no password", log.String())
	}
	_, err = setting.Read(setting.Dev, "here", setting.RawValues{"POSTRIDER_EVENTS_TO": "nats://me:s3cret@a b",
		"POSTRIDER_EVENTS_SUBJECTS": "a..b", "POSTRIDER_EVENTS_STREAM": "a.b",
		"POSTRIDER_EVENTS_REPLICAS": "6", "POSTRIDER_EVENTS_MAX_AGE": "1m", "POSTRIDER_EVENTS_TLS_CERT": "x.pem"})
	for _, name := range []string{"TO", "SUBJECTS", "STREAM", "REPLICAS", "MAX_AGE", "TLS_CERT"} {
		if err == nil || !strings.Contains(err.Error(), "POSTRIDER_EVENTS_"+name+" ") {
			t.Errorf("the errors are %v, want one of POSTRIDER_EVENTS_%s", err, name)
		}
	}
	if strings.Contains(fmt.Sprint(err), "s3cret") {
		t.Errorf("the errors contain the password: %v", err)
	}
}
