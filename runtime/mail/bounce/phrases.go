package bounce

// phrase decides regardless of the code, or only with the code that it names.
type phrase struct {
	class Class
	text  string // lower case, one space between words
	code  string // subject and detail, or empty
}

// Phrases typical of one kind of server. A phrase belongs here only if replies about other subjects cannot
// contain it; the first match decides.
var phrases = []phrase{
	// Greylisting: the name of the software in any spelling, mostly with 4.7.1, 4.2.0 or no enhanced code.
	{Greylist, "greylist", ""},
	{Greylist, "graylist", ""},
	{Greylist, "grey list", ""},
	{Greylist, "gray list", ""},
	{Greylist, "grey-list", ""},
	{Greylist, "gray-list", ""},
	{Greylist, "postgrey", ""},

	// Before phrases that seem to be about the sender's address.
	{Block, "domain reputation", ""},

	// The sender's address or domain, in words that seem to be about the recipient.
	{Policy, "sender address rejected", ""},
	{Policy, "sender rejected", ""},
	{Policy, "sender verify failed", ""},
	{Policy, "sender verification failed", ""},
	{Policy, "could not verify sender", ""},
	{Policy, "sender domain", ""},
	{Policy, "domain of sender", ""},
	{Policy, "sender's domain", ""},
	{Policy, "sender denied", ""},
	{Policy, "unknown sender", ""},
	{Policy, "sender unknown", ""},
	{Policy, "invalid sender", ""},
	{Policy, "envelope sender", ""},

	// Throttling. Gmail's phrases come with 4.2.1 and 5.2.1, which otherwise mean a disabled mailbox.
	{Throttle, "receiving mail at a rate", ""},
	{Throttle, "receiving mail too quickly", ""},
	{Throttle, "unusual rate of unsolicited", ""},
	{Throttle, "has been rate limited", ""},
	{Throttle, "has been temporarily rate limited", ""}, // Microsoft, 4.7.650
	{Throttle, "4.7.500 server busy", ""},               // Microsoft
	{Throttle, " rp-001 ", ""},                          // Microsoft's consumer service, with a link to its postmaster page
	{Throttle, " rp-002 ", ""},
	{Throttle, " rp-003 ", ""},
	{Throttle, "temporarily deferred due to", ""}, // Yahoo and AOL, TSS04: unexpected volume or user complaints
	{Throttle, "[tss0", ""},
	{Throttle, "[ts01]", ""},
	{Throttle, "rl00000", ""},            // Comcast
	{Throttle, "frequency limited", ""},  // QQ
	{Throttle, "trop de connexions", ""}, // Orange
	{Throttle, "too many recipients", ""},
	{Block, "too many invalid recipients", ""},

	// Block lists and reputation.
	{Block, "permanently deferred", ""}, // Yahoo, TSS09
	{Block, "blocked using", ""},
	{Block, "spamhaus", ""},
	{Block, "spamcop", ""},
	{Block, "barracudacentral", ""},
	{Block, "barracudanetworks.com/reputation", ""},
	{Block, "uceprotect", ""},
	{Block, "sorbs.net", ""},
	{Block, "invaluement", ""},
	{Block, "csi.cloudmark.com", ""},
	{Block, "ipcheck.proofpoint.com", ""},
	{Block, "senderscore", ""},
	{Block, "senderbase", ""},
	{Block, "talosintelligence", ""},
	{Block, "dnsbl", ""},
	{Block, "on our block list", ""}, // Microsoft, S3140 and S3150
	{Block, "banned sending ip", ""},
	{Block, "low reputation of the sending", ""}, // Gmail
	{Block, "tosa@rx.t-online.de", ""},
	{Block, "(rtr:bl)", ""}, // AOL

	// Content, with codes that mean policy or nothing.
	{Content, "likely unsolicited mail", ""}, // Gmail
	{Content, "likely suspicious", ""},       // Gmail
	{Content, "mail content denied", ""},     // QQ
	{Content, "considered unsolicited bulk", ""},
	{Content, "(#5.7.1:blocked)", ""}, // Barracuda

	// Addresses, with codes that mean something else.
	{BadAddress, "recipient address rejected: access denied", "4.1"}, // Microsoft's directory-based blocking
	{BadAddress, "recipient addresses rejected : access denied", "4.1"},
	{BadAddress, "resolver.adr.", ""},                   // Exchange: RecipNotFound, ExRecipNotFound, RecipientNotFound, Ambiguous
	{BadAddress, "not accepted -- invalid mailbox", ""}, // Mail.ru
	{BadAddress, "this user doesn't have a", ""},        // Yahoo
	{BadAddress, "disabled or discontinued", ""},        // Yahoo
	{BadAddress, "email account that you tried to reach does not exist", ""},
	{BadAddress, "email account that you tried to reach is disabled", ""},
	{BadAddress, "email account that you tried to reach is inactive", ""},
	{MailboxFull, "quotaexceeded", ""}, // Exchange: STOREDRV.Deliver.Exception:QuotaExceededException
	{MailboxFull, "out of storage space", ""},
	{Size, "recipsizelimit", ""},  // Exchange: RESOLVER.RST.RecipSizeLimit
	{Policy, "resolver.rst.", ""}, // Exchange: NotAuthorized, AuthRequired, RestrictedToRecipientsPermission

	{Challenge, "boxbe", ""},
	{Challenge, "spamarrest", ""},
	{Challenge, "challenge-response", ""},
	{Challenge, "challenge/response", ""},
	{Challenge, "confirm that you are a human", ""},
}
