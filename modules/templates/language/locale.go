package language

import (
	"regexp"
	"sync"
	"time"
	_ "time/tzdata" // the machine may have no time zone database

	bcp47 "golang.org/x/text/language"

	"github.com/postrider/postrider/runtime/base/fault"
)

// maxLocale is the longest name of a locale, in characters. It has room for a language, a script, a region and
// variants.
const maxLocale = 35

// Locale is the language and the time zone of a recipient. The zero value formats values in American English, and
// leaves times in the zone they have.
type Locale struct {
	tag  bcp47.Tag
	zone *time.Location // nil: none
}

// NewLocale returns the locale for a BCP 47 tag and the name of an IANA time zone. Both are optional. Errors are added
// by the names of their fields.
func NewLocale(tag, tagField, zone, zoneField string, wrong fault.Fields) Locale {
	var l Locale
	if tag != "" {
		parsed, reason := ParseTag(tag)
		if reason != "" {
			wrong.Add(tagField, "%s", reason)
		}
		l.tag = parsed
	}
	if zone != "" {
		loaded, known := loadZone(zone)
		if !known {
			wrong.Add(zoneField, "must be a name from the IANA time zone database, such as Europe/Berlin or UTC")
		}
		l.zone = loaded
	}
	return l
}

// ParseTag parses a BCP 47 tag. The reason is empty if the tag is valid.
func ParseTag(tag string) (bcp47.Tag, string) {
	const invalid = "must be a BCP 47 language tag, such as en or pt-BR"
	if len(tag) > maxLocale {
		return bcp47.Und, invalid
	}
	parsed, err := bcp47.Parse(tag)
	if err != nil || parsed.IsRoot() {
		return bcp47.Und, invalid
	}
	return parsed, ""
}

var (
	zoneForm = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_+-]*(/[A-Za-z0-9_+-]+)*$`)
	zones    sync.Map // of *time.Location by name; as large as the database of time zones
)

func loadZone(name string) (*time.Location, bool) {
	if known, ok := zones.Load(name); ok {
		return known.(*time.Location), true //nolint:forcetypeassert // stored below
	}
	if len(name) > 64 || !zoneForm.MatchString(name) || name == "Local" {
		return nil, false
	}
	loaded, err := time.LoadLocation(name)
	if err != nil {
		return nil, false
	}
	zones.Store(name, loaded)
	return loaded, true
}

// language returns the tag that values are formatted for.
func (l Locale) language() bcp47.Tag {
	if l.tag.IsRoot() {
		return bcp47.AmericanEnglish
	}
	return l.tag
}

// region returns the base language of a locale, and its region if the tag names one.
func (l Locale) region() (language, region string) {
	base, _, written := l.language().Raw()
	if written != (bcp47.Region{}) {
		region = written.String()
	}
	return base.String(), region
}
