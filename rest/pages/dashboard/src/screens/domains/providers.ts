import type { components } from '@/api/rest.gen'

export type Provider = components['schemas']['ApplyDNSRecords']['provider']

interface Credential {
  name: string
  label: string
  hint?: string
  optional?: boolean
  // open fields are not masked.
  open?: boolean
}

// The supported DNS providers and their credentials.
export const providers: Record<Provider, { name: string; fields: Credential[] }> = {
  cloudflare: { name: 'Cloudflare', fields: [{ name: 'api_token', label: 'API token', hint: 'Needs Zone.DNS:Edit, and Zone:Read unless you enter a zone token below.' }, { name: 'zone_token', label: 'Zone token', hint: 'Needs Zone:Read.', optional: true }] },
  digitalocean: { name: 'DigitalOcean', fields: [{ name: 'api_token', label: 'Personal access token', hint: 'Needs the scopes domain:read, domain:create and domain:delete.' }] },
  gandi: { name: 'Gandi', fields: [{ name: 'bearer_token', label: 'Personal access token', hint: 'Must be allowed to manage the domain’s technical configuration.' }] },
  hetzner: { name: 'Hetzner', fields: [{ name: 'api_token', label: 'API token', hint: 'From the Hetzner Cloud project, with read and write access.' }] },
  ovh: {
    name: 'OVH',
    fields: [{ name: 'endpoint', label: 'Endpoint', hint: 'ovh-eu, ovh-ca or ovh-us.', open: true }, { name: 'application_key', label: 'Application key', open: true }, { name: 'application_secret', label: 'Application secret' }, { name: 'consumer_key', label: 'Consumer key', hint: 'Needs GET, POST and DELETE on /domain/zone/*.' }],
  },
  rfc2136: {
    name: 'Your own name server (RFC 2136)',
    fields: [{ name: 'server', label: 'Primary name server', hint: 'Host name or address, with :port unless it’s 53.', open: true }, { name: 'key_name', label: 'TSIG key name', open: true }, { name: 'key', label: 'TSIG key', hint: 'Base64-encoded.' }, { name: 'key_algorithm', label: 'Key algorithm', hint: 'Defaults to hmac-sha256. Also hmac-sha1, hmac-sha224, hmac-sha384 or hmac-sha512.', optional: true, open: true }],
  },
  route53: {
    name: 'Amazon Route 53',
    fields: [{ name: 'access_key_id', label: 'Access key ID', hint: 'Needs ListHostedZonesByName, ListResourceRecordSets, ChangeResourceRecordSets and GetChange.', open: true }, { name: 'secret_access_key', label: 'Secret access key' }, { name: 'session_token', label: 'Session token', hint: 'For temporary credentials.', optional: true }, { name: 'hosted_zone_id', label: 'Hosted zone ID', hint: 'Needed if several zones have the same name.', optional: true, open: true }],
  },
}
