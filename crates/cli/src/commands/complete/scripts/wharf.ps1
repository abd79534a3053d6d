# Completion of wharf for PowerShell. Candidates come from `wharf complete`, which reads files only.

Register-ArgumentCompleter -Native -CommandName 'wharf', 'wharf.exe' -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)
    $words = @($commandAst.CommandElements |
        Where-Object { $_.Extent.EndOffset -lt $cursorPosition } |
        ForEach-Object { if ($null -ne $_.Value) { [string]$_.Value } else { $_.Extent.Text } })
    # An empty word would be lost on the way, so the last one has a colon in front.
    $words += ":$wordToComplete"
    wharf complete powershell -- $words 2>$null | ForEach-Object {
        if ($_.StartsWith(':')) { return }
        $value, $about = $_ -split "`t", 2
        if (-not $about) { $about = $value }
        [System.Management.Automation.CompletionResult]::new($value, $value, 'ParameterValue', $about)
    }
}
