package config

import (
	"log/slog"
	"net/url"
	"strings"

	"github.com/postrider/postrider/runtime/blob"
	"github.com/postrider/postrider/runtime/secret"
)

// Inbound says who judges received mail and where it is kept.
type Inbound struct {
	RspamdURL string      // without a slash at its end; "" for none
	Blobs     blob.Config // zero: messages stay in the database
}

// LogValue has no secret.
func (i Inbound) LogValue() slog.Value {
	return slog.GroupValue(slog.String("rspamd_url", withoutPassword(i.RspamdURL)), slog.String("endpoint", i.Blobs.Endpoint), slog.String("region", i.Blobs.Region),
		slog.String("bucket", i.Blobs.Bucket), slog.String("prefix", i.Blobs.Prefix))
}

func (r *resolver) inboundParts(s Settings) Inbound {
	return Inbound{RspamdURL: r.rspamd(s.RspamdURL), Blobs: r.blobs(s.Blobs)}
}

func (r *resolver) rspamd(text string) string {
	if text == "" {
		return ""
	}
	u, err := url.Parse(text)
	if err != nil || (u.Scheme != "https" && u.Scheme != "http") || u.Hostname() == "" || u.RawQuery != "" || u.Fragment != "" {
		r.wrong.addf("POSTRIDER_RSPAMD_URL", "is no URL of an rspamd worker; want http://127.0.0.1:11333")
		return ""
	}
	return strings.TrimSuffix(text, "/")
}

// blobs never quotes the setting: it has a secret.
func (r *resolver) blobs(text string) blob.Config {
	if text == "" {
		return blob.Config{}
	}
	c, err := blob.ParseURL(secret.New(text))
	if err != nil {
		r.wrong.addf("POSTRIDER_BLOBS", "%s", strings.ReplaceAll(err.Error(), "\n", "; "))
	}
	return c
}
