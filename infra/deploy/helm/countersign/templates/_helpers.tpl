{{- define "countersign.image" -}}
{{- with .Values.image -}}
{{- if .digest }}{{ .repository }}@{{ .digest }}{{ else }}{{ .repository }}:{{ .tag | default $.Chart.AppVersion }}{{ end -}}
{{- end -}}
{{- end -}}

{{/* What selects the pods of a role: dict "root" . "role" <role> */}}
{{- define "countersign.selector" -}}
app.kubernetes.io/name: countersign
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .role }}
{{- end -}}

{{- define "countersign.labels" -}}
{{ include "countersign.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ .root.Chart.Name }}-{{ .root.Chart.Version }}
{{- end -}}

{{- define "countersign.fullname" -}}
{{ .root.Release.Name }}-{{ .role }}
{{- end -}}

{{/* The secrets of a role beside its URLs, as infra/config/role-secrets.ts says. */}}
{{- define "countersign.secretsOf" -}}
{{- if or (eq . "otp") (hasPrefix "channel-" .) -}}dataKeys codeSecrets
{{- else if eq . "dashboard" -}}dataKeys codeSecrets adminToken
{{- else -}}dataKeys
{{- end -}}
{{- end -}}

{{/* "true" where KEDA scales the role. */}}
{{- define "countersign.scaled" -}}
{{- if and .root.Values.keda.enabled (hasPrefix "channel-" .role) -}}true{{- end -}}
{{- end -}}

{{/* A value of a variable, quoted. A number in a file of values is a float, which "quote" alone writes as 1.048576e+06. */}}
{{- define "countersign.text" -}}
{{- ternary . (toJson .) (kindIs "string" .) | quote -}}
{{- end -}}
