package setting_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/runtime/base/setting"
)

func TestUnknownVariablesNameTheNearestSetting(t *testing.T) {
	t.Parallel()
	known := []string{"DATABASE_URL", "POSTRIDER_BASE_URL", "POSTRIDER_MX_ALLOW", "POSTRIDER_MX_PORT",
		"POSTRIDER_MODULES"}
	for name, test := range map[string]struct {
		environ []string
		want    []setting.UnknownVariable
	}{
		"swapped letters": {[]string{"POSTRIDER_MX_PROT=25"},
			[]setting.UnknownVariable{{Name: "POSTRIDER_MX_PROT", Nearest: "POSTRIDER_MX_PORT"}}},
		"a missing letter": {[]string{"POSTRIDER_MODULE=-relay"},
			[]setting.UnknownVariable{{Name: "POSTRIDER_MODULE", Nearest: "POSTRIDER_MODULES"}}},
		"the prefix of another setting": {[]string{"POSTRIDER_DATABASE_URL=x"},
			[]setting.UnknownVariable{{Name: "POSTRIDER_DATABASE_URL", Nearest: "POSTRIDER_BASE_URL"}}},
		"two, in the order of the names": {[]string{"POSTRIDER_MX_PORTS=1", "POSTRIDER_BASEURL=x"},
			[]setting.UnknownVariable{{Name: "POSTRIDER_BASEURL", Nearest: "POSTRIDER_BASE_URL"},
				{Name: "POSTRIDER_MX_PORTS", Nearest: "POSTRIDER_MX_PORT"}}},
		"settings and other programs": {[]string{"POSTRIDER_MX_PORT=25", "PATH=/bin", "MX_PORT=1"}, nil},
		"an empty value": {[]string{"POSTRIDER_BASE_URI="},
			[]setting.UnknownVariable{{Name: "POSTRIDER_BASE_URI", Nearest: "POSTRIDER_BASE_URL"}}},
	} {
		if diff := cmp.Diff(test.want, setting.UnknownVariables(test.environ, known)); diff != "" {
			t.Errorf("%s: the unknown variables of %v differ (-want +got):\n%s", name, test.environ, diff)
		}
	}
	if got := setting.UnknownVariables([]string{"POSTRIDER_X=1"}, nil); got != nil {
		t.Errorf("without any known setting, the unknown variables are %v, want none", got)
	}
}
