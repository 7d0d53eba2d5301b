package textmsg

import (
	"errors"
	"regexp"
	"slices"
	"strings"

	"github.com/nyaruka/phonenumbers"
)

// Number is a valid telephone number.
type Number struct {
	E164   string // such as +4915112345678
	Region string // ISO 3166 code in capitals, or NoRegion
}

// NoRegion is the region of numbers that belong to no country, such as satellite phones.
const NoRegion = "001"

// form matches E.164: a country code, which does not begin with 0, and at most 15 digits.
var form = regexp.MustCompile(`^\+[1-9][0-9]{4,14}$`)

var (
	errForm     = errors.New("must be a number with its country code, such as +4915112345678, without spaces")
	errCode     = errors.New("must begin with an assigned country code")
	errPossible = errors.New("must have a number of digits that is valid in its country")
)

// Parse parses a number. The error message is written to follow the name of a field.
func Parse(text string) (Number, error) {
	text = strings.TrimSpace(text)
	if !form.MatchString(text) {
		return Number{}, errForm
	}
	parsed, err := phonenumbers.Parse(text, "ZZ")
	switch {
	case errors.Is(err, phonenumbers.ErrInvalidCountryCode):
		return Number{}, errCode
	case err != nil || !phonenumbers.IsPossibleNumber(parsed):
		return Number{}, errPossible
	case phonenumbers.Format(parsed, phonenumbers.E164) != text: // includes the leading 0 of the national format
		return Number{}, errForm
	}
	region := phonenumbers.GetRegionCodeForNumber(parsed)
	if !isRegion(region) { // for a range missing from the table, use the main country of the calling code
		region = phonenumbers.GetRegionCodeForCountryCode(int(parsed.GetCountryCode()))
	}
	if !isRegion(region) {
		region = NoRegion
	}
	return Number{E164: text, Region: region}, nil
}

func isRegion(code string) bool { return code != "" && code != "ZZ" }

// Regions returns the countries of all possible numbers, sorted.
func Regions() []string { return slices.Clone(regions) }

var regions = func() (all []string) {
	for region := range phonenumbers.GetSupportedRegions() {
		all = append(all, region)
	}
	slices.Sort(all)
	return all
}()

// IsRegion reports whether a text is the code of one of these countries.
func IsRegion(code string) bool {
	_, found := slices.BinarySearch(regions, code)
	return found
}

var (
	// A Twilio messaging service.
	service = regexp.MustCompile(`^MG[0-9a-f]{32}$`)
	// A short code of one country.
	short = regexp.MustCompile(`^[0-9]{3,8}$`)
	// GSM allows 11 characters.
	word   = regexp.MustCompile(`^[A-Za-z0-9+&#*._-](?:[A-Za-z0-9 +&#*._-]{0,9}[A-Za-z0-9+&#*._-])?$`)
	letter = regexp.MustCompile(`[A-Za-z]`)
)

// CheckSender validates the sender of a message: a number that Parse accepts, a short code, a word, or a Twilio
// messaging service. The error message is written to follow the name of a field.
func CheckSender(text string) error {
	if service.MatchString(text) || short.MatchString(text) || word.MatchString(text) && letter.MatchString(text) {
		return nil
	}
	if _, err := Parse(text); err == nil && !strings.ContainsAny(text, " \t\r\n") {
		return nil
	}
	return errors.New("must be a number such as +4915112345678, a short code, or a word of at most 11 letters and digits")
}
