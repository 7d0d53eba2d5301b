package outgoing

import (
	"github.com/postrider/postrider/modules/outbound"
	"github.com/postrider/postrider/runtime/mail/smtpclient"
)

// combinedReporter counts sessions twice: for the operator's metrics without names, and for reports with names.
func combinedReporter(counter smtpclient.TLSReports, recorder *outbound.TLSRecorder) smtpclient.TLSReports {
	if recorder == nil {
		return counter
	}
	return bothReports{counter, recorder}
}

type bothReports [2]smtpclient.TLSReports

// Report passes the session to both.
func (b bothReports) Report(r smtpclient.TLSReport) {
	b[0].Report(r)
	b[1].Report(r)
}
