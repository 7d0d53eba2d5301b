// money formats an amount in minor units, such as cents, in its currency.
export function money(amount: number, currency: string): string {
  const format = new Intl.NumberFormat(undefined, { style: 'currency', currency: currency.toUpperCase() })
  return format.format(amount / 10 ** (format.resolvedOptions().maximumFractionDigits ?? 2))
}

export const count = (n: number) => n.toLocaleString('en')

const day = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', year: 'numeric', timeZone: 'UTC' })
export const dayOf = (at: string | null | undefined) => (at ? day.format(new Date(at)) : '')
