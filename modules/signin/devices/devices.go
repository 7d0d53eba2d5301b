// Package devices recognizes browsers in which a user has signed in before.
//
// Such a browser keeps an authenticated cookie. The cookie alone does not sign in its user. The browser has its
// own counter of failed attempts, which strangers cannot use up, and a sign-in from it sends no email about a
// new browser. A cookie is valid for one email and 180 days, and until the next change of the password.
package devices

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"strings"
	"time"

	"github.com/postrider/postrider/modules/accounts/admission"
)

// Lifetime is how long a browser is recognized after a sign-in.
const Lifetime = admission.DeviceLife

const (
	mostPeople = 4 // users remembered per browser
	maxCookie  = 1024

	idSize   = 12
	timeSize = 8
	macSize  = 16
	size     = idSize + timeSize + macSize
)

// Keys authenticate cookies. New cookies use the first key. The others belong to master keys that are being
// replaced.
type Keys [][]byte

// Device is a browser in which a user has signed in.
type Device struct {
	ID string
	At time.Time // time of the sign-in, to the second
}

// Find returns the device that a cookie contains for an email, in its stored form.
func (k Keys) Find(cookie, email string, now time.Time) (Device, bool) {
	for entry := range splitEntries(cookie) {
		d, is := k.open(entry, email)
		if is && now.Before(d.At.Add(Lifetime)) {
			return d, true
		}
	}
	return Device{}, false
}

// Remember returns the cookie of a browser in which the user with the email has just signed in. It keeps the
// entries of other users.
func (k Keys) Remember(cookie, email string, now time.Time) string {
	known, is := k.Find(cookie, email, now)
	id := []byte(known.ID)
	if !is {
		id = make([]byte, idSize)
		rand.Read(id)
	}
	list := []string{k.seal(id, email, now)}
	for entry := range splitEntries(cookie) {
		if _, own := k.open(entry, email); !own && len(entry) == len(list[0]) && len(list) < mostPeople {
			list = append(list, entry)
		}
	}
	return strings.Join(list, ".")
}

// splitEntries yields the possible entries of a cookie.
func splitEntries(cookie string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		if len(cookie) > maxCookie {
			return
		}
		seen := 0
		for entry := range strings.SplitSeq(cookie, ".") {
			if seen++; seen > mostPeople || !yield(entry) {
				return
			}
		}
	}
}

func (k Keys) seal(id []byte, email string, at time.Time) string {
	plain := binary.BigEndian.AppendUint64(append(make([]byte, 0, size), id...), uint64(at.Unix()))
	return base64.RawURLEncoding.EncodeToString(append(plain, authenticate(k[0], plain, email)...))
}

func (k Keys) open(entry, email string) (Device, bool) {
	raw, err := base64.RawURLEncoding.DecodeString(entry)
	if err != nil || len(raw) != size {
		return Device{}, false
	}
	plain, sum := raw[:idSize+timeSize], raw[idSize+timeSize:]
	for _, key := range k {
		if hmac.Equal(authenticate(key, plain, email), sum) {
			return Device{string(plain[:idSize]), time.Unix(int64(binary.BigEndian.Uint64(plain[idSize:])), 0)}, true
		}
	}
	return Device{}, false
}

func authenticate(key, plain []byte, email string) []byte {
	h := hmac.New(sha256.New, key)
	h.Write(plain)
	h.Write([]byte(email))
	return h.Sum(nil)[:macSize]
}
