"""The environment: installed Blenders, language-model hosts and the checks of `doctor`."""
