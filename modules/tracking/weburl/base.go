package weburl

import (
	"net/url"
	"strings"

	"github.com/postrider/postrider/runtime/base/fault"
)

// CheckBase adds an error unless base is a public URL of an installation, with only a scheme and a host.
func CheckBase(wrong fault.Fields, field, base string) {
	if u, err := url.Parse(base); err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" ||
		u.Path != "" {
		wrong.Add(field, "must be an http(s) URL with only a host")
	}
}

// Secure reports whether a URL uses TLS.
func Secure(address string) bool { return strings.HasPrefix(address, TLS) }
