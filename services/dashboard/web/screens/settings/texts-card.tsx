// The app's own texts, by channel and language. The preview is made by the function that writes the messages, with a made-up code.
import { useLayoutEffect, useState } from 'preact/hooks'
import { SECOND_MS } from '../../../../../infra/time.ts'
import { smsSegments } from '../../../../../machines/sms-segments.ts'
import {
  builtInText,
  endingOf,
  LANGUAGES,
  minutesInText,
  renderMessage,
  type TextTemplate,
} from '../../../../domain/texts/message-text.ts'
import { CHANNEL_NAMES } from '../../data/channels.ts'
import { useApp } from '../../data/tenant.tsx'
import type { SettingsDraft } from '../../data/use-settings-draft.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { Editable } from '../../ui/editable.tsx'
import { Select, TextArea, TextField } from '../../ui/field.tsx'
import { SettingField } from '../../ui/setting-field.tsx'
import { languageName } from './language-name.ts'
import { MailFrame } from './mail-frame.tsx'
import { segmentWords } from './segment-words.ts'

const TEXT_CHANNELS = ['sms', 'email', 'whatsapp'] as const

type TextChannel = (typeof TEXT_CHANNELS)[number]

const CHANNEL_CHOICES = TEXT_CHANNELS.map(value => ({ value, label: CHANNEL_NAMES[value] }))

export function TextsCard({ draft }: { draft: SettingsDraft }) {
  const app = useApp()
  const { texts, locale } = draft.settings
  const [channel, setChannel] = useState<TextChannel>('sms')
  const [language, setLanguage] = useState(LANGUAGES.includes(locale) ? locale : 'en')
  const ofChannel: Record<string, TextTemplate> = texts[channel]
  const own = ofChannel[language]
  const builtIn = builtInText(channel, language)
  const shown = own ?? builtIn
  const languages = [...new Set([...LANGUAGES, ...Object.keys(ofChannel)])].map(value => ({
    value,
    label: `${languageName(value) ?? value}${Object.hasOwn(ofChannel, value) ? ' (own text)' : ''}`,
  }))
  const path = `texts.${channel}.${language}`
  // A refused text that is not shown is brought up. Before the effect of the save bar, which looks for the first refused field.
  useLayoutEffect(() => {
    const refused = refusedTexts(draft.problem)
    const [first] = refused
    if (!first || refused.some(one => one.channel === channel && one.language === language)) return
    setChannel(first.channel)
    setLanguage(first.language)
  }, [draft.problem])

  const change = (changed: TextTemplate) => draft.set(`texts.${channel}`, { ...ofChannel, [language]: changed })
  const restore = () => {
    const { [language]: _, ...others } = ofChannel
    draft.set(`texts.${channel}`, others)
  }
  /** An empty subject or HTML part is none: the built-in one is used, or one is made of the text. */
  const withPart = (part: 'subject' | 'html', value: string): TextTemplate => ({
    ...shown,
    [part]: value === '' ? null : value,
  })

  return (
    <Card
      title="Texts"
      lead="What your messages say. {code}, {app} and {minutes} are filled in. A language without an own text has the built-in one; Telegram and WhatsApp templates have texts of their own."
    >
      <div class="settings-texts">
        <div class="settings-text-choice">
          <Select<TextChannel>
            label="Message"
            value={channel}
            options={CHANNEL_CHOICES}
            onChange={value => setChannel(value)}
          />
          <Select label="Language" value={language} options={languages} onChange={setLanguage} />
          <Badge tone={own ? 'good' : 'neutral'}>{own ? 'Own text' : 'Built-in text'}</Badge>
        </div>
        <Editable>
          <div class="settings-text-fields">
            {channel === 'email' && (
              <TextField
                label="Subject"
                value={shown.subject ?? ''}
                onInput={value => change(withPart('subject', value))}
                error={draft.errorUnder(`${path}.subject`)}
              />
            )}
            <TextArea
              label="Text"
              rows={channel === 'email' ? 6 : 3}
              value={shown.text}
              onInput={text => change({ ...shown, text })}
              error={draft.errorUnder(`${path}.text`)}
            />
            {channel === 'email' && (
              <TextArea
                label="HTML"
                hint="Optional. Without it, the HTML part is made of the text. Placeholders stand in the text, not in tags."
                rows={4}
                monospace
                value={shown.html ?? ''}
                onInput={value => change(withPart('html', value))}
                error={draft.errorUnder(`${path}.html`)}
              />
            )}
            {own && (
              <div>
                <Button look="quiet" onClick={restore}>
                  Back to the built-in text
                </Button>
              </div>
            )}
            <SettingField draft={draft} path="text_links" />
          </div>
        </Editable>
        <Preview appName={app.name} channel={channel} language={language} own={own} draft={draft} />
      </div>
    </Card>
  )
}

function refusedTexts(problem: SettingsDraft['problem']): { channel: TextChannel; language: string }[] {
  return [...(problem?.fields.keys() ?? [])].flatMap(path => {
    const [, group, name, language] = path.split('.')
    const channel = TEXT_CHANNELS.find(one => one === name)
    return group === 'texts' && channel && language ? [{ channel, language }] : []
  })
}

interface PreviewProps {
  appName: string
  channel: TextChannel
  language: string
  own: TextTemplate | undefined
  draft: SettingsDraft
}

function Preview({ appName, channel, language, own, draft }: PreviewProps) {
  // A field may hold what is no number yet, or none that can be saved.
  const { length, ttl_seconds } = draft.settings.code
  const code = '12345678'.slice(0, Number(length) || undefined)
  const minutes = minutesInText((Number(ttl_seconds) || 0) * SECOND_MS)
  const { text, subject, html } = renderMessage({
    channel,
    locale: language,
    app: appName,
    code,
    minutes,
    ending: endingOf(draft.settings.channels.sms),
    own: own ? { ...own, locale: language } : null,
  })
  return (
    <section class="settings-text-preview" aria-label="Preview">
      <h3>Preview</h3>
      {subject !== null && <p class="settings-text-subject">{subject}</p>}
      {html !== null && (
        <>
          <MailFrame html={html} />
          <p class="hint">Pictures are not loaded here, and links lead nowhere. Programs without HTML show the text:</p>
        </>
      )}
      <p class="settings-text-message" dir="auto">
        {text}
      </p>
      {channel === 'sms' && (
        <p class="hint" role="status">
          {segmentWords(smsSegments(text))}
        </p>
      )}
    </section>
  )
}
