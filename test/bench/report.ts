// Prints one measurement: what is compared, the figure of each variant, its ratio to the baseline, and the aim.

interface Row {
  what: string
  unit: 'per second' | 'ms'
  baseline: Figure
  variants: [...Figure[], Figure]
  /** The aim for the last variant. */
  aim?: { says: string; holds(figure: number, ratio: number): boolean }
}

export interface Figure {
  name: string
  value: number
  note?: string
}

const NAME_WIDTH = 44

export function print({ what, unit, baseline, variants, aim }: Row): void {
  console.log(`  ${what}`)
  console.log(`    ${formatFigure(baseline, unit)}`)
  for (const [at, variant] of variants.entries()) {
    const ratio = variant.value / baseline.value
    const judged = aim && at === variants.length - 1
    const verdict = judged ? `   aim ${aim.says}: ${aim.holds(variant.value, ratio) ? 'met' : 'MISSED'}` : ''
    console.log(`    ${formatFigure(variant, unit)}   ${ratio.toFixed(2).padStart(6)} ×${verdict}`)
  }
}

function formatFigure({ name, value, note }: Figure, unit: Row['unit']): string {
  const number = unit === 'ms' ? `${value.toFixed(3)} ms` : `${Math.round(value).toLocaleString('en')}/s`
  return `${name.padEnd(NAME_WIDTH)} ${number.padStart(12)}${note ? ` (${note})` : ''}`
}
