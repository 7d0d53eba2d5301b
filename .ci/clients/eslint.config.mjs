// Lints the schema of the server and every GraphQL document that ships with Postrider, which graphql.mjs writes to
// build. Each disabled rule states its reason.
import graphql from '@graphql-eslint/eslint-plugin'

const schema = 'build/schema.graphql'
const documents = 'build/documents/**/*.graphql'
const judge = (files, ...rules) => ({
  files: [files],
  plugins: { '@graphql-eslint': graphql },
  languageOptions: { parser: graphql.parser, parserOptions: { graphQLConfig: { schema, documents } } },
  rules: Object.assign({}, ...rules),
})
const { configs } = graphql

export default [
  judge(schema, configs['flat/schema-recommended'].rules, configs['flat/schema-relay'].rules, {
    '@graphql-eslint/strict-id-in-types': 'off', // every type with an id is a Node; statistics, pages and parts of a Node have no id
    '@graphql-eslint/no-typename-prefix': 'off', // fields have the names of the REST API, such as `billing_email` of billing
    '@graphql-eslint/relay-edge-types': ['error', { listTypeCanWrapOnlyEdgeType: false, shouldImplementNode: false }], // lists of a fixed size are not connections; entries of four lists have no id for node()
  }),
  judge(documents, configs['flat/operations-recommended'].rules, {
    '@graphql-eslint/require-selections': 'off', // for caches that merge responses by id; the dashboard caches by document
  }),
]
