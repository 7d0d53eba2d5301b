package config

import (
	"errors"
	"log/slog"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/lib/pq"

	"github.com/postrider/postrider/runtime/base/intake"
	"github.com/postrider/postrider/runtime/base/secret"
	"github.com/postrider/postrider/runtime/base/setting"
	"github.com/postrider/postrider/runtime/storage/db"
)

// database is the group of settings about where data is stored.
const database = "Database"

// The default data directories.
const (
	DevDataDir     = "data"               // in development mode: relative to the working directory
	DefaultDataDir = "/var/lib/postrider" // in production, and for commands
)

// DatabaseURL is zero if Postrider runs its own server.
var DatabaseURL = setting.Declare(setting.Setting[secret.String]{
	Name: "DATABASE_URL", Group: database, Secret: true, DefaultText: "embedded",
	Help: "PostgreSQL 14 or newer. If empty, Postrider runs its own server in the data directory.",
	Form: databaseAddress,
	Show: showDatabase,
})

// DatabasePassword is added to DatabaseURL and ReplicaURL by Load, so that a URL can be public while the password is
// in a file.
var DatabasePassword = setting.Declare(setting.Setting[secret.String]{
	Name: "POSTRIDER_DATABASE_PASSWORD", Group: database, Secret: true, DefaultText: "none",
	Help: "Password for DATABASE_URL and POSTRIDER_DATABASE_REPLICA_URL, if they contain none.",
	Form: setting.Syntax[secret.String]{Placeholder: "PASSWORD",
		Parse: func(text string) (secret.String, error) { return secret.New(text), nil }},
	Check: func(v setting.Values, password secret.String) error {
		if !password.IsZero() && IsEmbedded(v) {
			return errors.New("requires DATABASE_URL")
		}
		return nil
	},
})

// addPassword adds DatabasePassword to the database URLs without a password.
func addPassword(v setting.Values) setting.Values {
	password := DatabasePassword.Get(v)
	if password.IsZero() {
		return v
	}
	for _, s := range []*setting.Setting[secret.String]{DatabaseURL, ReplicaURL} {
		text := s.Get(v).Reveal()
		given, err := pq.NewConfig(text)
		if text == "" || err != nil || given.Password != "" {
			continue
		}
		switch {
		case !strings.Contains(text, "://"): // key=value
			text += " password='" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(password.Reveal()) + "'"
		case strings.Contains(text, "?"):
			text += "&password=" + url.QueryEscape(password.Reveal())
		default:
			text += "?password=" + url.QueryEscape(password.Reveal())
		}
		v = s.Override(v, secret.New(text))
	}
	return v
}

// ReplicaURL is zero if there is no replica.
var ReplicaURL = setting.Declare(setting.Setting[secret.String]{
	Name: "POSTRIDER_DATABASE_REPLICA_URL", Group: database, Secret: true, DefaultText: "none",
	Help: "One or more standbys of DATABASE_URL that serve lists, search and statistics while they have all earlier commits; otherwise the primary serves them.",
	Form: databaseAddress,
	Check: func(v setting.Values, url secret.String) error {
		if url.IsZero() {
			return nil
		}
		if IsEmbedded(v) {
			return errors.New("requires DATABASE_URL: the embedded server has no standbys")
		}
		given, err := pq.NewConfig(url.Reveal())
		if err == nil && (given.TargetSessionAttrs == pq.TargetSessionAttrsReadWrite ||
			given.TargetSessionAttrs == pq.TargetSessionAttrsPrimary) {
			return errors.New("requests the primary (target_session_attrs=" + string(given.TargetSessionAttrs) +
				"); want standby")
		}
		return nil
	},
	Show: func(url secret.String) slog.Value {
		if url.IsZero() {
			return slog.StringValue("none")
		}
		return showDatabase(url)
	},
})

// databaseAddress is the form of both.
var databaseAddress = setting.Syntax[secret.String]{Placeholder: "URL",
	Parse: func(text string) (secret.String, error) {
		if _, err := pq.NewConfig(text); err != nil { // err would reveal the password
			return secret.String{},
				errors.New("is not a PostgreSQL address; want postgres://user:password@host:5432/name")
		}
		return secret.New(text), nil
	}}

// DataDir is the folder for data that is not in the database.
var DataDir = setting.Declare(setting.Setting[string]{
	Name: "POSTRIDER_DATA_DIR", Group: database, DefaultText: "/var/lib/postrider; ./data in development",
	Help: "Folder of the embedded PostgreSQL and of generated keys.",
	Form: setting.Syntax[string]{Placeholder: "DIR",
		Parse: func(text string) (string, error) { return filepath.Clean(text), nil }},
	From: func(v setting.Values) string {
		if v.Mode == setting.Dev {
			return DevDataDir
		}
		return DefaultDataDir
	},
})

// BackupDir is the folder of backups whose age is reported; empty for none.
var BackupDir = setting.Declare(setting.Setting[string]{
	Name: "POSTRIDER_BACKUP_DIR", Group: database, Form: setting.Text("DIR"),
	Help: "Folder to which postrider admin backup writes, as the service sees it. The metrics then report when the newest backup was taken.",
})

// Connections is the maximum number of database connections of a process.
var Connections = setting.Declare(setting.Setting[int]{
	Name: "POSTRIDER_DATABASE_CONNECTIONS", Group: database, Form: setting.Number(4, 1000), Default: db.Connections,
	Help: "Maximum number of database connections per process, not counting one for notifications. Processes " +
		"open fewer if the server, the role or the database does not allow that many for all of them.",
})

// Standbys is the number of standbys that must hold confirmed data.
var Standbys = setting.Declare(setting.Setting[int]{
	Name: "POSTRIDER_DATABASE_STANDBYS", Group: database, Form: setting.Number(0, 9),
	Help: "Number of standbys that must write each commit to disk. A server that waits for fewer is rejected, " +
		"and a process is not ready while fewer are connected (its role needs pg_monitor to see them).",
	Check: func(v setting.Values, n int) error {
		if n > 0 && IsEmbedded(v) {
			return errors.New("requires DATABASE_URL: the embedded server has no standbys")
		}
		return nil
	},
})

// Migrate says whether a service migrates the database to the schema of its version.
var Migrate = setting.Declare(setting.Setting[Migration]{
	Name: "POSTRIDER_MIGRATE", Group: database, Form: setting.OneOf("HOW", MigrateOn, MigrateOff), Default: MigrateOn,
	Help: "off: reject a database that lacks migrations instead of applying them at startup. For deployments " +
		"that run postrider migrate as a job.",
})

// Migration says what a service does if the database has an older schema.
type Migration string

// The values of POSTRIDER_MIGRATE.
const (
	MigrateOn  Migration = "on"
	MigrateOff Migration = "off"
)

// PostgresBin is the folder with the PostgreSQL programs.
var PostgresBin = setting.Declare(setting.Setting[string]{
	Name: "POSTRIDER_POSTGRES_BIN", Group: database, Form: setting.Text("DIR"),
	DefaultText: "searched in the usual places",
	Help:        "Folder with the initdb and postgres programs to run.",
})

// PostgresFallback is the last place to look for PostgreSQL.
var PostgresFallback = setting.Declare(setting.Setting[string]{
	Name: "POSTRIDER_POSTGRES_FALLBACK", Group: database, Form: setting.Text("DIR"),
	Help: "Folder in which make installs PostgreSQL if the machine has none.",
})

// RiskLosingAcceptedMail accepts synchronous_commit=off.
var RiskLosingAcceptedMail = setting.Declare(setting.Setting[bool]{
	Name: "POSTRIDER_UNSAFE_MAY_LOSE_ACCEPTED_MAIL", Group: database, Form: setting.Switch(),
	Help: "Accept a server with synchronous_commit=off: a server crash can then lose mail that was accepted.",
})

// SpoolDir defaults to the data directory if the database runs on this machine, because that disk is meant
// for data. Empty means the system's temporary directory.
var SpoolDir = setting.Declare(setting.Setting[string]{
	Name: "POSTRIDER_SPOOL_DIR", Group: database, Form: setting.Text("DIR"),
	DefaultText: "spool in the data directory if the database is there too, else the system's temporary folder",
	Help:        "Folder on a disk for large bodies and messages in transit.",
	From: func(v setting.Values) string {
		if IsEmbedded(v) || v.Mode == setting.Dev {
			return filepath.Join(DataDir.Get(v), "spool")
		}
		return ""
	},
})

// DatabaseBytes is how much space the database may use; zero means that only its disk limits it.
var DatabaseBytes = setting.Declare(setting.Setting[int]{
	Name: "POSTRIDER_DATABASE_BYTES", Group: database, Form: setting.Number(0, 1<<60),
	DefaultText: "the disk, if it is on this machine",
	Help: "Maximum size of the database in bytes. As space runs out, Postrider rejects writes of free accounts, " +
		"then everything except mail, then all writes, so that delivery continues. Set it if the database " +
		"is on another machine.",
})

// SpoolBytes limits the spool.
var SpoolBytes = setting.Declare(setting.Setting[int]{
	Name: "POSTRIDER_SPOOL_BYTES", Group: database, Form: setting.Number(intake.LeastSpool, 1<<50),
	Default: intake.DefaultSpool,
	Help: "Maximum number of bytes that they may use there in total. An account or network can use at most a " +
		"quarter.",
})

// MasterKey is empty if development mode keeps its key in a file, and for commands without a key. The first
// key seals.
var MasterKey = setting.Declare(setting.Setting[[]secret.Key]{
	Name: "POSTRIDER_MASTER_KEY", Group: database, Secret: true, DefaultText: "generated in development",
	Help:     "Encrypts secrets at rest: 32 bytes in base64. With several, separated by commas, the first one encrypts. Set it in the environment, not on the command line.",
	Required: "it encrypts secrets at rest; create one with `openssl rand -base64 32` and keep it safe",
	Form:     keysForm,
	Show:     showKeys,
})

var keysForm = setting.Syntax[[]secret.Key]{Placeholder: "KEY,...", Parse: func(text string) ([]secret.Key, error) {
	keys, err := secret.ParseKeys(secret.New(text))
	if err != nil {
		return nil, errors.New("is wrong: " + strings.ReplaceAll(err.Error(), "\n", "; "))
	}
	return keys, nil
}}

func showKeys(keys []secret.Key) slog.Value { return slog.GroupValue(slog.Int("keys", len(keys))) }

// IsEmbedded reports whether Postrider runs its own PostgreSQL.
func IsEmbedded(v setting.Values) bool { return DatabaseURL.Get(v).IsZero() }

// showDatabase returns the location of the database for the log. The URL itself may contain a password in
// several places.
func showDatabase(url secret.String) slog.Value {
	if url.IsZero() {
		return slog.GroupValue(slog.Bool("embedded", true))
	}
	server, err := pq.NewConfig(url.Reveal())
	if err != nil {
		return slog.AnyValue(url)
	}
	return slog.GroupValue(slog.String("host", server.Host), slog.Int("port", int(server.Port)),
		slog.String("name", server.Database), slog.String("user", server.User))
}
