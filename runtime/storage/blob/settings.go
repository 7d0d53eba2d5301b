package blob

import (
	"errors"
	"log/slog"
	"strings"

	"github.com/postrider/postrider/runtime/base/secret"
	"github.com/postrider/postrider/runtime/base/setting"
)

// Chapter is the group of the object store settings.
const Chapter = "Object store"

// StoreURL is the object store of the installation. It is zero without an object store.
var StoreURL = setting.Declare(setting.Setting[Config]{
	Name: "POSTRIDER_BLOBS", Group: Chapter, Secret: true, DefaultText: "none: everything stays in the database",
	Help: "S3-compatible object store that received messages are moved to, as " +
		"s3://KEY:SECRET@host/bucket/prefix?region=…; tls=off uses HTTP, and path_style=on|off sets whether the " +
		"bucket is in the path. Set it in the environment, not on the command line.",
	Form: setting.Syntax[Config]{Placeholder: "URL", Parse: func(text string) (Config, error) {
		c, err := ParseURL(secret.New(text))
		if err != nil {
			return c, errors.New(strings.ReplaceAll(err.Error(), "\n", "; "))
		}
		return c, nil
	}},
	Show: func(c Config) slog.Value {
		return slog.GroupValue(slog.String("endpoint", c.Endpoint), slog.String("region", c.Region),
			slog.String("bucket", c.Bucket), slog.String("prefix", c.Prefix))
	},
})
