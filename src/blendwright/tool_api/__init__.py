"""What a tool author sees: the Tool base, the words of its promises, building blocks of arguments, and the Scene port."""
