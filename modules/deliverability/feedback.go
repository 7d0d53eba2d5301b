package deliverability

// FeedbackLoop is a service with which a mailbox provider reports complaints.
type FeedbackLoop struct {
	Provider, Name string
	Complaints     int64 // of its users that were counted in the period
	About          string
	Fix            string // how to register
	Page           string
}

// feedbackLoops returns the loops of the large providers.
func feedbackLoops(domain string, t traffic) []FeedbackLoop {
	return []FeedbackLoop{
		{Provider: gmail, Name: "Postmaster Tools", Complaints: t.complained[gmail],
			About: "Gmail sends no reports. It shows the spam rate of the domain, and of each kind of mail by the header " +
				"field Feedback-ID, which Postrider adds to all mail.",
			Fix:  "Add " + domain + " to Postmaster Tools, and verify it with the TXT record shown there.",
			Page: "https://postmaster.google.com/"},
		{Provider: yahoo, Name: "Complaint Feedback Loop", Complaints: t.complained[yahoo],
			About: "Yahoo reports complaints by the domain of the DKIM signature, to an address that you register. " +
				"Postrider counts the reports that arrive at the return path of the email.",
			Fix:  "Register " + domain + " with the Complaint Feedback Loop, and suppress the recipients that it reports.",
			Page: "https://senders.yahooinc.com/complaint-feedback-loop/"},
		{Provider: microsoft, Name: "Junk Mail Reporting Program", Complaints: t.complained[microsoft],
			About: "Microsoft reports complaints by source address, to an address that the owner of the addresses registers. " +
				"Postrider counts the reports that arrive at the return path of the email.",
			Fix:  "The operator of the installation registers its source addresses with SNDS and the Junk Mail Reporting Program.",
			Page: "https://sendersupport.olc.protection.outlook.com/snds/JMRP.aspx"},
	}
}
