export interface Example {
  name: string
  module?: string
  query: string
  variables?: string
}

export const examples: Example[] = [
  {
    name: 'Who am I', query: `# Ctrl Enter runs it.
query WhoAsks {
  viewer {
    account {
      id
      name
      plan {
        name
      }
    }
    can
    modules
  }
}
`,
  },
  {
    name: 'Latest emails', module: 'sending', query: `query LatestEmails($first: Int = 5) {
  emails(first: $first) {
    nodes {
      id
      to
      subject
      status
      lastEvent
      createdAt
    }
    pageInfo {
      hasNextPage
      endCursor
    }
  }
}
`, variables: '{\n  "first": 5\n}',
  },
  {
    name: 'Queue', module: 'sending', query: `query WhatWaits {
  queueByDestination {
    destination
    total
    oldestAgeSeconds
    diagnostic
  }
}
`,
  },
  {
    name: 'Domains and their records', module: 'domains', query: `query Domains {
  domains(first: 20) {
    nodes {
      id
      name
      status
      records {
        type
        name
        value
      }
    }
  }
}
`,
  },
  {
    name: 'Needs attention', query: `query Health {
  health {
    findings {
      code
      level
      found
      do
    }
  }
}
`,
  },
]
