package inbound

import (
	"errors"
	"log/slog"
	"net/url"
	"strings"

	"github.com/postrider/postrider/runtime/blob"
	"github.com/postrider/postrider/runtime/config"
	"github.com/postrider/postrider/runtime/secret"
	"github.com/postrider/postrider/runtime/setting"
)

const chapter = "Received mail"

// RspamdURL has no slash at its end; empty for none.
var RspamdURL = setting.Declare(setting.Setting[string]{
	Name: "POSTRIDER_RSPAMD_URL", Group: chapter, DefaultText: "none: the spam status is unknown",
	Help: "Rspamd's worker that judges received mail, as http://127.0.0.1:11333.",
	Form: setting.Form[string]{Placeholder: "URL", Parse: func(text string) (string, error) {
		u, err := url.Parse(text)
		if err != nil || (u.Scheme != "https" && u.Scheme != "http") || u.Hostname() == "" || u.RawQuery != "" || u.Fragment != "" {
			return "", errors.New("is no URL of an rspamd worker; want http://127.0.0.1:11333")
		}
		return strings.TrimSuffix(text, "/"), nil
	}},
	Show: config.WithoutPassword,
})

// Blobs is zero where messages stay in the database.
var Blobs = setting.Declare(setting.Setting[blob.Config]{
	Name: "POSTRIDER_BLOBS", Group: chapter, Secret: true, DefaultText: "none: they stay in the database",
	Help: "S3-compatible object store that received messages are moved to, as s3://KEY:SECRET@host/bucket/prefix?region=…; tls=off is http, path_style=on|off says where the bucket stands. Rather set it in the environment than on the command line.",
	Form: setting.Form[blob.Config]{Placeholder: "URL", Parse: func(text string) (blob.Config, error) {
		c, err := blob.ParseURL(secret.New(text))
		if err != nil {
			return c, errors.New(strings.ReplaceAll(err.Error(), "\n", "; "))
		}
		return c, nil
	}},
	Show: func(c blob.Config) slog.Value {
		return slog.GroupValue(slog.String("endpoint", c.Endpoint), slog.String("region", c.Region), slog.String("bucket", c.Bucket), slog.String("prefix", c.Prefix))
	},
})
