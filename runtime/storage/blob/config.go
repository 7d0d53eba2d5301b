package blob

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/postrider/postrider/runtime/base/secret"
)

// Config says where the store is and who asks.
type Config struct {
	Endpoint  string // host or host:port
	Plain     bool   // http instead of https
	Region    string // default us-east-1, which most stores that have no regions expect
	Bucket    string
	Prefix    string // in front of every key, without slashes at its ends; may be empty
	AccessKey string
	SecretKey secret.String
	PathStyle bool // bucket in the path; otherwise in the host name
}

// Form is how ParseURL wants it, for messages to operators.
const Form = "s3://KEY:SECRET@host[:port]/bucket[/prefix][?region=…&tls=on|off&path_style=on|off]"

// ParseURL reads a Config from the form above. KEY and SECRET are percent-encoded
// where they hold other characters than letters and digits ("/" is %2F). The path style
// is the default except at Amazon. No error quotes the text.
func ParseURL(text secret.String) (Config, error) {
	u, err := url.Parse(text.Reveal())
	if err != nil || u.Scheme != "s3" || u.Opaque != "" {
		return Config{}, errors.New("is not of the form " + Form + " (a / in KEY or SECRET is written %2F, a + %2B, an @ %40)")
	}
	cfg := Config{Endpoint: u.Host, AccessKey: u.User.Username(), PathStyle: !amazon(u.Hostname())}
	password, _ := u.User.Password()
	cfg.SecretKey = secret.New(password)
	bucket, prefix, _ := strings.Cut(strings.TrimPrefix(u.Path, "/"), "/")
	cfg.Bucket, cfg.Prefix = bucket, strings.Trim(prefix, "/")
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil || u.Fragment != "" {
		return Config{}, errors.New("has options that cannot be read; the form is " + Form)
	}
	cfg, wrong := cfg.with(query)
	return cfg, errors.Join(wrong, cfg.Validate())
}

// with sets the options.
func (c Config) with(query url.Values) (Config, error) {
	var wrong []error
	for _, name := range slices.Sorted(maps.Keys(query)) {
		value := query.Get(name)
		switch name {
		case "region":
			c.Region = value
		case "tls":
			c.Plain = value == "off"
			wrong = append(wrong, onOff(name, value))
		case "path_style":
			c.PathStyle = value == "on"
			wrong = append(wrong, onOff(name, value))
		default:
			wrong = append(wrong, errors.New("has an unknown option; there are region, tls and path_style"))
		}
	}
	return c, errors.Join(wrong...)
}

func onOff(name, value string) error {
	if value != "on" && value != "off" {
		return fmt.Errorf("%s is neither on nor off", name)
	}
	return nil
}

func amazon(host string) bool {
	return strings.HasSuffix(host, ".amazonaws.com") || strings.HasSuffix(host, ".amazonaws.com.cn")
}

var (
	bucketName = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$`)
	regionName = regexp.MustCompile(`^[a-z0-9-]{0,40}$`)
)

// Validate says everything that is wrong.
func (c Config) Validate() error {
	var wrong []error
	for reason, bad := range map[string]bool{
		"has no host": c.Endpoint == "" || strings.HasPrefix(c.Endpoint, ":"),
		"has a bucket that is none: 3 to 63 small letters, digits, dots and hyphens": !bucketName.MatchString(c.Bucket),
		"has no key":                             c.AccessKey == "",
		"has no secret":                          c.SecretKey.IsZero(),
		"has a region that is none":              !regionName.MatchString(c.Region),
		"has a prefix that cannot stand in keys": c.Prefix != "" && checkKey(c.Prefix) != nil,
	} {
		if bad {
			wrong = append(wrong, errors.New(reason))
		}
	}
	slices.SortFunc(wrong, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return errors.Join(wrong...)
}

// maxKey is S3's own bound, in octets.
const maxKey = 1024

// checkKey refuses what stores and the proxies before them treat differently.
func checkKey(key string) error {
	switch {
	case key == "":
		return errors.New("key is empty")
	case len(key) > maxKey:
		return fmt.Errorf("key is longer than %d octets", maxKey)
	case !utf8.ValidString(key) || strings.ContainsFunc(key, unicode.IsControl):
		return errors.New("key is not text")
	}
	for segment := range strings.SplitSeq(key, "/") {
		if segment == "" || segment == "." || segment == ".." {
			return errors.New("key has an empty segment or one of dots")
		}
	}
	return nil
}
