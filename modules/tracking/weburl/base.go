package weburl

import (
	"net/url"
	"strings"

	"github.com/postrider/postrider/runtime/base/fault"
)

// CheckBase adds what is wrong with the URL under which an installation is reached: scheme and host alone.
func CheckBase(wrong fault.Fields, field, base string) {
	if u, err := url.Parse(base); err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" || u.Path != "" {
		wrong.Add(field, "is no http(s) URL of a host alone")
	}
}

// Secure tells whether an address is reached over TLS.
func Secure(address string) bool { return strings.HasPrefix(address, TLS) }
