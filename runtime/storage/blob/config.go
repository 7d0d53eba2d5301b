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

// Config is the address of a store and its credentials.
type Config struct {
	Endpoint  string // host or host:port
	Plain     bool   // http instead of https
	Region    string // default us-east-1, which most stores without regions expect
	Bucket    string
	Prefix    string // prefix of every key, without leading or trailing slash; may be empty
	AccessKey string
	SecretKey secret.String
	PathStyle bool // bucket in the path instead of in the host name
}

// Form is the syntax that ParseURL expects, for messages to operators.
const Form = "s3://KEY:SECRET@host[:port]/bucket[/prefix][?region=…&tls=on|off&path_style=on|off]"

// ParseURL parses a Config in the form above. In KEY and SECRET, characters other than letters and digits
// must be percent-encoded ("/" is %2F). The path style is the default except for Amazon. Errors never quote
// the text.
func ParseURL(text secret.String) (Config, error) {
	u, err := url.Parse(text.Reveal())
	if err != nil || u.Scheme != "s3" || u.Opaque != "" {
		return Config{}, errors.New("must have the form " + Form +
			" (a / in KEY or SECRET is written %2F, a + %2B, an @ %40)")
	}
	cfg := Config{Endpoint: u.Host, AccessKey: u.User.Username(), PathStyle: !isAmazon(u.Hostname())}
	password, _ := u.User.Password()
	cfg.SecretKey = secret.New(password)
	bucket, prefix, _ := strings.Cut(strings.TrimPrefix(u.Path, "/"), "/")
	cfg.Bucket, cfg.Prefix = bucket, strings.Trim(prefix, "/")
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil || u.Fragment != "" {
		return Config{}, errors.New("has invalid options; the form is " + Form)
	}
	cfg, wrong := cfg.withOptions(query)
	return cfg, errors.Join(wrong, cfg.Validate())
}

// withOptions applies the options.
func (c Config) withOptions(query url.Values) (Config, error) {
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
			wrong = append(wrong, errors.New("has an unknown option; supported are region, tls and path_style"))
		}
	}
	return c, errors.Join(wrong...)
}

func onOff(name, value string) error {
	if value != "on" && value != "off" {
		return fmt.Errorf("%s must be on or off", name)
	}
	return nil
}

func isAmazon(host string) bool {
	return strings.HasSuffix(host, ".amazonaws.com") || strings.HasSuffix(host, ".amazonaws.com.cn")
}

var (
	bucketName = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$`)
	regionName = regexp.MustCompile(`^[a-z0-9-]{0,40}$`)
)

// Validate returns an error that lists every invalid field.
func (c Config) Validate() error {
	var wrong []error
	for reason, bad := range map[string]bool{
		"has no host": c.Endpoint == "" || strings.HasPrefix(c.Endpoint, ":"),
		"has an invalid bucket name: must be 3 to 63 lowercase letters, digits, dots and hyphens": !bucketName.MatchString(c.Bucket),
		"has no key":                             c.AccessKey == "",
		"has no secret":                          c.SecretKey.IsZero(),
		"has an invalid region":                  !regionName.MatchString(c.Region),
		"has a prefix that is not valid in keys": c.Prefix != "" && checkKey(c.Prefix) != nil,
	} {
		if bad {
			wrong = append(wrong, errors.New(reason))
		}
	}
	slices.SortFunc(wrong, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return errors.Join(wrong...)
}

// maxKey is the S3 limit in bytes.
const maxKey = 1024

// checkKey rejects keys that stores, or proxies in front of them, treat differently.
func checkKey(key string) error {
	switch {
	case key == "":
		return errors.New("key is empty")
	case len(key) > maxKey:
		return fmt.Errorf("key is longer than %d bytes", maxKey)
	case !utf8.ValidString(key) || strings.ContainsFunc(key, unicode.IsControl):
		return errors.New("key is not valid UTF-8")
	}
	for segment := range strings.SplitSeq(key, "/") {
		if segment == "" || segment == "." || segment == ".." {
			return errors.New("key has a segment that is empty or consists of dots")
		}
	}
	return nil
}
