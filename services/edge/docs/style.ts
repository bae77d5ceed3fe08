// The style of the reference page: system fonts, light or dark as the reader's system is set. It fetches nothing.
export const STYLE = `
:root { color-scheme: light dark; --ink: #1c2330; --soft: #556070; --line: #d9dee6; --paper: #fff; --well: #f4f6f9; --accent: #0b5cad; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e4e9f0; --soft: #a3afbf; --line: #343d4a; --paper: #12161c; --well: #1b212a; --accent: #7db8f5; }
}
* { box-sizing: border-box; }
body { margin: 0; color: var(--ink); background: var(--paper); font: 16px/1.55 system-ui, sans-serif; }
.page { display: grid; grid-template-columns: 15rem minmax(0, 52rem); gap: 3rem; max-width: 76rem; margin: 0 auto; padding: 2rem 1.5rem 6rem; }
nav { position: sticky; top: 2rem; align-self: start; font-size: .95rem; }
nav ul { list-style: none; margin: 0; padding: 0; }
nav li { margin: .35rem 0; }
a { color: var(--accent); }
nav a { text-decoration: none; }
nav a:hover { text-decoration: underline; }
h1 { margin: 0; font-size: 2rem; line-height: 1.2; }
h2 { margin: 3.5rem 0 .75rem; padding-top: 1.5rem; border-top: 1px solid var(--line); font-size: 1.35rem; }
h3 { margin: 2.5rem 0 .5rem; font-size: 1.15rem; }
h4 { margin: 1.5rem 0 .5rem; font-size: 1rem; }
code, pre { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; font-size: .875em; }
code { background: var(--well); padding: .1em .3em; border-radius: 4px; }
pre { background: var(--well); border: 1px solid var(--line); border-radius: 8px; padding: .9rem 1rem; overflow-x: auto; }
pre code { background: none; padding: 0; font-size: 1em; }
.lead, .soft { color: var(--soft); }
.lead { font-size: 1.1rem; }
.route { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; font-size: .95rem; }
.route b { color: var(--accent); }
.wide { overflow-x: auto; }
table { width: 100%; border-collapse: collapse; font-size: .93rem; }
th, td { padding: .5rem .75rem .5rem 0; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; }
thead th { color: var(--soft); font-weight: 600; }
tbody th { font-weight: 400; white-space: nowrap; }
details { margin: .5rem 0; }
summary { cursor: pointer; }
@media (max-width: 56rem) { .page { display: block; } nav { position: static; margin-bottom: 2rem; } }
@media print { nav { display: none; } .page { display: block; } }
`
