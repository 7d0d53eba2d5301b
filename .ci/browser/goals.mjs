// A user sets the goal of an automation in the builder and activates it. The automation's page and the template's page
// show their figures over time. axe checks both in both themes, wide and narrow.
import { check, nothing, open, violations, watch } from './browser.mjs'
import { api, base, signIn, until, visit } from './dashboard.mjs'

const { browser, context, page } = await open({ viewport: { width: 1440, height: 900 } })
const wrong = watch(context, base, text => text.includes('400')) // a goal of 91 days
await signIn(context)
const { template } = await api('POST', '/templates', { name: 'Offer', subject: 'An offer', from: 'ada@dev.test', text: 'Hello' })
await api('POST', `/templates/${template.id}/publish`)
const { automation } = await api('POST', '/automations', { name: 'Offers', trigger: { event: 'cart.left' }, steps: [{ key: 'offer', type: 'send_email', template: { id: template.id } }] })

// 1. The goal.
await visit(page, `/automations/${automation.id}?tab=statistics`)
await page.getByText('No runs in this period.').waitFor()
await page.getByRole('button', { name: 'Set a goal' }).click()
const panel = page.getByRole('region', { name: 'Automation settings' })
await panel.getByLabel('Event').fill('order.paid')
const days = panel.getByLabel('Days after the run started')
check(await days.inputValue() === '7', `a new goal is 7 days, not ${await days.inputValue()}`)
await days.fill('91')
await page.getByRole('button', { name: 'Save draft' }).or(page.getByRole('button', { name: 'Save', exact: true })).first().click()
await panel.getByText('must be an integer between 1 and 90').waitFor()
await days.fill('14')
await page.getByRole('button', { name: 'Save draft' }).or(page.getByRole('button', { name: 'Save', exact: true })).first().click()
await until('the goal is saved', async () => (await api('GET', `/automations/${automation.id}`)).automation.goal?.within_days === 14)
await page.getByRole('button', { name: 'Activate', exact: true }).click()
await page.getByRole('dialog').getByRole('button', { name: 'Activate' }).click()
await until('the automation is active', async () => (await api('GET', `/automations/${automation.id}`)).automation.status === 'active')

// 2. Two runs, of which one converts.
for (const user of ['u1', 'u2']) await api('POST', '/events', { name: 'cart.left', user_id: user, email: `${user}@example.net` })
await api('POST', '/events', { name: 'order.paid', user_id: 'u2' })
await until('one run converts, and two emails are delivered', async () => {
  const { totals } = (await api('GET', `/automations/${automation.id}/statistics`)).statistics
  return totals.runs.converted === 1 && totals.emails.delivered === 2
})

// 3. The figures of the automation, and those of its template.
await visit(page, `/automations/${automation.id}?tab=statistics`)
await page.getByText('Goal: order.paid within 14 days.').waitFor()
await page.getByText('1 of 2 runs with a goal', { exact: true }).waitFor()
for (const name of ['Runs chart', 'Conversions chart', 'Delivery chart']) await page.getByRole('figure', { name }).waitFor()
await page.getByRole('list', { name: 'Runs' }).getByText('converted (50 %)').waitFor()
await page.getByRole('group', { name: 'Range' }).getByRole('button', { name: '24 h' }).click()
await page.getByText('1 of 2 runs with a goal', { exact: true }).waitFor()
const templatePath = `/templates/${template.id}?tab=statistics`
for (const path of [`/automations/${automation.id}?tab=statistics`, `/automations/${automation.id}?step=settings`, templatePath]) {
  await visit(page, path)
  if (path === templatePath) await page.getByRole('figure', { name: 'Delivery chart' }).waitFor()
  for (const theme of ['light', 'dark']) {
    for (const width of [1440, 390]) {
      for (const v of await violations(page, theme, width)) wrong.push(`${path} ${theme} ${width}: ${v}`)
      if (await page.evaluate(() => document.documentElement.scrollWidth > innerWidth)) wrong.push(`${path} ${width}: is wider than the window`)
    }
  }
  await page.setViewportSize({ width: 1440, height: 900 })
}

// 4. The run.
const { automation_runs: runs } = await api('GET', `/automations/${automation.id}/runs?user_id=u2`)
await visit(page, `/automations/runs/${runs[0].id}`)
await page.getByText('automation.converted').waitFor()
await browser.close()
nothing(wrong)
