package number

import (
	"errors"
	"regexp"
	"slices"
	"strings"

	"github.com/nyaruka/phonenumbers"
)

// Number is one that may be written to.
type Number struct {
	E164   string // as +4915112345678
	Region string // ISO 3166 in capitals; NoRegion if it belongs to no country
}

// NoRegion is the region of numbers that belong to no country, as those of satellites.
const NoRegion = "001"

// form is E.164: a country code, which begins with no 0, and 15 digits at most.
var form = regexp.MustCompile(`^\+[1-9][0-9]{4,14}$`)

var (
	errForm     = errors.New("must be a number with its country code, as +4915112345678, without spaces")
	errCode     = errors.New("begins with a country code that there is not")
	errPossible = errors.New("has not as many digits as numbers of its country have")
)

// Parse returns the number that a text is. The error says what is wrong with it, and continues a
// sentence that begins with the name of a field.
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
	case phonenumbers.Format(parsed, phonenumbers.E164) != text: // it has the 0 of its country's own notation
		return Number{}, errForm
	}
	region := phonenumbers.GetRegionCodeForNumber(parsed)
	if !isRegion(region) { // a range that the table does not know: the country that the code is known by
		region = phonenumbers.GetRegionCodeForCountryCode(int(parsed.GetCountryCode()))
	}
	if !isRegion(region) {
		region = NoRegion
	}
	return Number{E164: text, Region: region}, nil
}

func isRegion(code string) bool { return code != "" && code != "ZZ" }

// Regions returns all countries that numbers can be of, in order.
func Regions() []string { return slices.Clone(regions) }

var regions = func() (all []string) {
	for region := range phonenumbers.GetSupportedRegions() {
		all = append(all, region)
	}
	slices.Sort(all)
	return all
}()

// IsRegion tells whether a text is the code of such a country.
func IsRegion(code string) bool {
	_, found := slices.BinarySearch(regions, code)
	return found
}

var (
	service = regexp.MustCompile(`^MG[0-9a-f]{32}$`)                                                    // Twilio's name for a pool of numbers
	short   = regexp.MustCompile(`^[0-9]{3,8}$`)                                                        // a number of one country
	word    = regexp.MustCompile(`^[A-Za-z0-9+&#*._-](?:[A-Za-z0-9 +&#*._-]{0,9}[A-Za-z0-9+&#*._-])?$`) // 11 characters are all that GSM has for it
	letter  = regexp.MustCompile(`[A-Za-z]`)
)

// CheckSender judges from what a message may be: a number as Parse takes it, a short number, a word,
// or a Twilio messaging service. The error continues a sentence that begins with the name of a field.
func CheckSender(text string) error {
	if service.MatchString(text) || short.MatchString(text) || word.MatchString(text) && letter.MatchString(text) {
		return nil
	}
	if _, err := Parse(text); err == nil && !strings.ContainsAny(text, " \t\r\n") {
		return nil
	}
	return errors.New("must be a number as +4915112345678, a short number, or a word of at most 11 letters and digits")
}
