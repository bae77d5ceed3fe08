// The dashboard in a browser: a page that shows the screen of its address.
import { render } from 'preact'
import { App } from './app.tsx'
import './styles/tokens.css'
import './styles/base.css'
import './styles/controls.css'
import './styles/layout.css'

const place = document.getElementById('app')
if (place) render(<App />, place)
