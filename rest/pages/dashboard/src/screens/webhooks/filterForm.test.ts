import { describe, expect, it } from 'vitest'
import { errorsOf, filterBody, headersText, parseHeaders, toFilter } from './filterForm'

describe('the filter of an endpoint', () => {
  it('survives the form', () => {
    const filter = { domainIds: ['dom_1'], templateIds: [], automationIds: [], tags: [{ name: 'kind', value: 'receipt' }, { name: 'env', value: null }] }
    expect(filterBody(toFilter(filter))).toEqual({ domain_ids: ['dom_1'], template_ids: [], automation_ids: [], tags: [{ name: 'kind', value: 'receipt' }, { name: 'env' }] })
  })
  it('is null without entries', () => {
    expect(filterBody(toFilter(null))).toBeNull()
    expect(filterBody({ ...toFilter(null), tags: ' \n' })).toBeNull()
  })
  it('keeps an equals sign in a value', () => {
    expect(filterBody({ ...toFilter(null), tags: 'a=b=c' })?.tags).toEqual([{ name: 'a', value: 'b=c' }])
  })
})

describe('header fields', () => {
  it('survive the form', () => {
    const headers = [{ name: 'Authorization', value: '********' }, { name: 'X-URL', value: 'https://a.test' }]
    expect(parseHeaders(headersText(headers))).toEqual({ Authorization: '********', 'X-URL': 'https://a.test' })
  })
  it('have their errors joined', () => {
    expect(errorsOf({ 'headers.Host': 'cannot be set', url: 'no' }, 'headers')).toBe('Host cannot be set')
    expect(errorsOf({ 'filter.tags[0]': 'is long' }, 'filter')).toBe('tags[0] is long')
    expect(errorsOf({ url: 'no' }, 'headers')).toBeUndefined()
  })
})
