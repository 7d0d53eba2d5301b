package eventexport

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/postrider/postrider/modules/eventexport/jetstream"
	"github.com/postrider/postrider/runtime/base/setting"
	"github.com/postrider/postrider/runtime/ops/config"
)

const group = "Event export"

// To is the export target; zero if there is none.
var To = setting.Declare(setting.Setting[jetstream.Target]{
	Name: "POSTRIDER_EVENTS_TO", Group: group, Secret: true, DefaultText: "nowhere",
	Help: "NATS JetStream servers that receive every event, as nats://host:4222,host2:4222; tls:// for TLS; user:password@ or a token before the first host.",
	Form: setting.Syntax[jetstream.Target]{Placeholder: "URL,...", Parse: jetstream.ParseTarget},
	Show: func(t jetstream.Target) slog.Value { return slog.StringValue(strings.Join(t.Servers, ",")) },
})

// Files for authentication of the client and the servers.
var (
	Credentials = setting.Declare(setting.Setting[string]{
		Name: "POSTRIDER_EVENTS_CREDENTIALS", Group: group, Form: setting.Text("FILE"),
		Help: "File with the JWT and the seed of a NATS user, as nsc writes it (.creds).",
	})
	TLSCA = setting.Declare(setting.Setting[string]{
		Name: "POSTRIDER_EVENTS_TLS_CA", Group: group, Form: setting.Text("FILE"),
		DefaultText: "the system's authorities",
		Help:        "PEM file of certificate authorities for verifying the servers.",
	})
	TLSCert = setting.Declare(setting.Setting[string]{
		Name: "POSTRIDER_EVENTS_TLS_CERT", Group: group, Form: setting.Text("FILE"),
		Help: "PEM file with a client certificate, for servers that require one.",
		Check: func(v setting.Values, file string) error {
			if (file == "") != (TLSKey.Get(v) == "") {
				return errors.New("and POSTRIDER_EVENTS_TLS_KEY go together")
			}
			return nil
		},
	})
	TLSKey = setting.Declare(setting.Setting[string]{
		Name: "POSTRIDER_EVENTS_TLS_KEY", Group: group, Form: setting.Text("FILE"),
		Help: "PEM file with its private key.",
	})
)

// Properties of the stream.
var (
	Stream = setting.Declare(setting.Setting[string]{
		Name: "POSTRIDER_EVENTS_STREAM", Group: group, Default: "postrider-facts",
		Help: "Name of the stream. It is created if it does not exist. A stream that was created by other means is " +
			"checked but not changed.",
		Form: setting.Syntax[string]{Placeholder: "NAME", Parse: parseStream},
	})
	Subjects = setting.Declare(setting.Setting[string]{
		Name: "POSTRIDER_EVENTS_SUBJECTS", Group: group, Default: "postrider.facts",
		Help: "Prefix of subjects: an event has the subject postrider.facts.<account>.<type>. Installations that share servers need different prefixes.",
		Form: setting.Syntax[string]{Placeholder: "PREFIX", Parse: parseSubjects},
	})
	Replicas = setting.Declare(setting.Setting[int]{
		Name: "POSTRIDER_EVENTS_REPLICAS", Group: group, Form: setting.Number(1, 5), Default: 3,
		Help: "Number of servers that store the stream. With 1, a power failure can lose the latest two minutes, unless the server has sync_interval: always.",
	})
	MaxAge = setting.Declare(setting.Setting[time.Duration]{
		Name: "POSTRIDER_EVENTS_MAX_AGE", Group: group, Form: setting.Duration(time.Hour, 400*24*time.Hour),
		Default: 7 * 24 * time.Hour,
		Help:    "How long the stream keeps events. Erasing a person does not delete exported events: they expire after this time.",
	})
)

// streamOf returns the stream's part of the installation's configuration.
func streamOf(v setting.Values, log *slog.Logger) jetstream.Config {
	return jetstream.Config{Target: To.Get(v), Files: jetstream.Files{Credentials: Credentials.Get(v), CA: TLSCA.Get(v),
		Cert: TLSCert.Get(v), Key: TLSKey.Get(v)},
		Stream: Stream.Get(v), Prefix: Subjects.Get(v), Replicas: Replicas.Get(v), MaxAge: MaxAge.Get(v),
		Name: "postrider " + config.Node.Get(v), Logger: log}
}

func parseStream(text string) (string, error) {
	if len(text) > 255 || strings.ContainsFunc(text, func(r rune) bool { return !isPlain(r) }) {
		return "", fmt.Errorf("is %q; it must consist of letters, digits, - and _", text)
	}
	return text, nil
}

func parseSubjects(text string) (string, error) {
	for token := range strings.SplitSeq(text, ".") {
		if token == "" || strings.ContainsFunc(token, func(r rune) bool { return !isPlain(r) }) {
			return "", fmt.Errorf("is %q; it must consist of words of letters, digits, - and _, separated by dots",
				text)
		}
	}
	return text, nil
}

func isPlain(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_'
}
